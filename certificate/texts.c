/* ring: glue */
#include "certificate/texts.h"

#include <string.h>

json_t *assay_statement_not_covered(void)
{
    static const char *const texts[] = {
        "Side channels: running time, memory and energy use, swap files, the "
        "operating system.",
        "The collection and storage of the raw data, and who else may read "
        "it.",
        "Other releases from the same data that are not in this ledger.",
        "Choices made by looking at the data outside the ledger: "
        "hyper-parameters, stopping, the decision to publish.",
        "Whether one record is one person: links between records of the same "
        "person, family or place.",
        "What is true of everybody: results about the population may still "
        "harm people who took no part.",
        "Fitness for the purpose: utility, fairness and safety of what is "
        "released.",
        "Hardware, operating system, compiler, and the random number "
        "generator of OpenSSL."};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        (void)json_array_append_new(list, json_string(texts[i]));
    }
    return list;
}

json_t *assay_statement_printed(const char *algorithm)
{
    static const struct {
        const char *algorithm, *paper, *verdict, *printed, *truth;
    } facts[] = {
        {"dp-apvi", "Qiao and Wang, offline reinforcement learning", "sound",
         "Gaussian noise with sigma^2 = 2H/rho on all visit counts.",
         "A replaced trajectory changes the counts by at most 4H in squared "
         "l2 norm: exactly rho-zCDP, sound and tight. The printed theorem "
         "assumes real-valued noise, which floating-point code does not "
         "have; here the noise is a discrete Gaussian, drawn exactly."},
        {"ucb-vi", "Chowdhury and Zhou, regret", "unsound",
         "Laplace noise eps/(3 H log K), inverted; as intended 3 H log K / "
         "eps; local: 3H/eps.",
         "A replaced user changes 6H in l1 norm and log K is ceil(log2 K): "
         "the printed noise gives 2.0 to 3.0 times the claimed epsilon, 2 "
         "times in the local model. Here the noise is 6 H L/eps with L = "
         "ceil(log2 K)."},
        {"ucb-po", "Chowdhury and Zhou, regret", "unsound",
         "Laplace noise eps/(3 H log K), inverted; as intended 3 H log K / "
         "eps; local: 3H/eps.",
         "A replaced user changes 6H in l1 norm and log K is ceil(log2 K): "
         "the printed noise gives 2.0 to 3.0 times the claimed epsilon, 2 "
         "times in the local model. Here the noise is 6 H L/eps with L = "
         "ceil(log2 K)."},
    };
    for (size_t i = 0; algorithm != NULL && i < sizeof facts / sizeof *facts;
         i++) {
        if (strcmp(facts[i].algorithm, algorithm) == 0) {
            return json_pack("{s:s,s:s,s:s,s:s,s:s}", "algorithm", algorithm,
                             "paper", facts[i].paper, "verdict",
                             facts[i].verdict, "printed", facts[i].printed,
                             "truth", facts[i].truth);
        }
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s}", "algorithm", "", "paper", "",
                     "verdict", "none", "printed", "", "truth",
                     "No paper's constants are involved.");
}

/* ring: glue */
/* guarantee.v and coqc: certificate/coqc.sh does the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certificate/coqfile.h"
#include "certificate/process.h"
#include "core/bytes.h"

static assay_status run_script(const char *source, const char *file,
                               assay_error *err)
{
    char script[4096];
    char *out = NULL;
    int code = 127;
    if (snprintf(script, sizeof script, "%s/certificate/coqc.sh", source) >=
        (int)sizeof script) {
        return assay_fail(err, ASSAY_INVALID, "a path is too long");
    }
    if (access(script, R_OK) != 0) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "no source tree in '%s': name it with --source",
                          source);
    }
    char sh[] = "/bin/sh";
    char *argv[] = {sh, script, (char *)(size_t)source, (char *)(size_t)file,
                    NULL};
    assay_status status = assay_process_run(&out, &code, argv, NULL, err);
    if (status == ASSAY_OK && code != 0) {
        out[strcspn(out, "\n")] = '\0';
        status = assay_fail(err, code == 1 ? ASSAY_REFUTED : ASSAY_UNSUPPORTED,
                            "%.300s", out);
    }
    free(out);
    return status;
}

assay_status assay_coq_check(const json_t *predicate, const char *source,
                             assay_error *err)
{
    char folder[256];
    char file[sizeof folder + 16];
    char *text = NULL;
    assay_status status = assay_coq_text(&text, predicate, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status =
        assay_temporary_folder(folder, sizeof folder, "assay-coq", "/tmp", err);
    if (status != ASSAY_OK) {
        free(text);
        return status;
    }
    (void)snprintf(file, sizeof file, "%s/guarantee.v", folder);
    status = assay_write_file(file, text, strlen(text), err);
    if (status == ASSAY_OK) {
        status = run_script(source, file, err);
    }
    (void)unlink(file);
    (void)rmdir(folder);
    free(text);
    return status;
}

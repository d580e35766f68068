# make certify [EXAMPLE=clinic|census|online|broken] [CERTIFY_OUT=DIR]: an
# example deployment, from manifest to report; then it is verified.
EXAMPLE ?= clinic
CERTIFY_OUT ?= $(BUILD)/certify
CERTIFY_KEY ?= $(BUILD)/keys/example

certify: $(BUILD)/assay $(CERTIFY_KEY).key ## certify an example (EXAMPLE=clinic) and verify it
	@rm -rf $(CERTIFY_OUT)
	$(BUILD)/assay certify examples/$(EXAMPLE)/deployment.yaml \
	  --key $(CERTIFY_KEY).key --source . -o $(CERTIFY_OUT)
	$(BUILD)/assay verify $(CERTIFY_OUT)/certificate.dsse.json \
	  --key $(CERTIFY_KEY).pub --source .
	@echo "prove it again in Coq: make certify-coq"

.PHONY: certify-coq certify-schema
certify-coq: ## the last certificate's guarantee as a theorem, checked by coqc
	$(BUILD)/assay verify $(CERTIFY_OUT)/certificate.dsse.json \
	  --key $(CERTIFY_KEY).pub --source . --coq

certify-schema: $(BUILD)/assay ## rewrite docs/schema/deployment.schema.json
	$(BUILD)/assay certify --schema > docs/schema/deployment.schema.json

# A key for examples: signs nothing that matters.
$(CERTIFY_KEY).key: | $(BUILD)/assay
	@mkdir -p $(@D)
	$(BUILD)/assay keygen -o $(CERTIFY_KEY)

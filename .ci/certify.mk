# make certify: the example deployment, from manifest to report.
CERTIFY_EXAMPLE ?= clinic
CERTIFY_OUT ?= $(BUILD)/certify/$(CERTIFY_EXAMPLE)
CERTIFY_KEY ?= $(BUILD)/certify/example

certify: $(BUILD)/assay $(CERTIFY_KEY).key ## certify examples/$(CERTIFY_EXAMPLE) (clinic) and verify it
	@rm -rf $(CERTIFY_OUT)
	$(BUILD)/assay certify examples/$(CERTIFY_EXAMPLE)/deployment.yaml \
	  --key $(CERTIFY_KEY).key --source . -o $(CERTIFY_OUT)
	$(BUILD)/assay verify $(CERTIFY_OUT)/certificate.dsse.json \
	  --key $(CERTIFY_KEY).pub --source .

# A key for examples: signs nothing that matters.
$(CERTIFY_KEY).key: | $(BUILD)/assay
	@mkdir -p $(@D)
	$(BUILD)/assay keygen -o $(CERTIFY_KEY)

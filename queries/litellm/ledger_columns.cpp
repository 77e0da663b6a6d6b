#include "queries/litellm/ledger_columns.h"

#include <fmt/core.h>

#include <cstdint>
#include <vector>

namespace outcomed::litellm {
namespace {

enum class Part : std::uint8_t { always, amounts, addresses, finish_reasons };

struct Field {
  RowColumn column;
  std::string_view LedgerRow::*target;
  Part part = Part::always;
};

RowColumn of_metadata(std::string_view path) {
  return {"metadata", fmt::format("metadata{}", path), true};
}

// The first of two places that says something.
RowColumn of_metadata(std::string_view path, std::string_view other) {
  return {"metadata", fmt::format("coalesce(metadata{}, metadata{})", path, other), true};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      {of_metadata("->>'status'"), &LedgerRow::status},
      {{"status", "", true}, &LedgerRow::status},  // Since 2025: what stands later wins.
      {{"model", "", true}, &LedgerRow::model},
      {{"model_id", "", true}, &LedgerRow::model_id},
      {{"model_group", "", true}, &LedgerRow::model_group},
      {{"custom_llm_provider", "", true}, &LedgerRow::provider},
      {{"api_key", "", true}, &LedgerRow::api_key},
      {of_metadata("->>'user_api_key_alias'"), &LedgerRow::key_alias},
      {{"team_id", "", true}, &LedgerRow::team},
      {of_metadata("->>'user_api_key_team_alias'"), &LedgerRow::team_alias},
      {{"cache_hit", "", true}, &LedgerRow::cache_hit},
      {of_metadata("->'error_information'->>'error_class'"), &LedgerRow::error_class},
      {of_metadata("->'error_information'->>'error_code'"), &LedgerRow::error_code},
      {of_metadata("->'error_information'->>'llm_provider'"), &LedgerRow::error_provider},
      {of_metadata("->>'original_model_group'"), &LedgerRow::original_model_group},
      {of_metadata("->>'attempted_retries'"), &LedgerRow::attempted_retries},
      {of_metadata("->>'attempted_fallbacks'"), &LedgerRow::attempted_fallbacks},
      {{"spend", "", true}, &LedgerRow::spend, Part::amounts},
      {{"prompt_tokens", "", true}, &LedgerRow::prompt_tokens, Part::amounts},
      {{"completion_tokens", "", true}, &LedgerRow::completion_tokens, Part::amounts},
      {of_metadata("->'usage_object'->>'prompt_tokens_details'"), &LedgerRow::prompt_details,
       Part::amounts},
      {of_metadata("->'usage_object'->'prompt_tokens_details'->>'cached_tokens'",
                   "->'usage_object'->>'cache_read_input_tokens'"),
       &LedgerRow::cached_tokens, Part::amounts},
      {of_metadata("->'usage_object'->'prompt_tokens_details'->>'cache_creation_tokens'",
                   "->'usage_object'->>'cache_creation_input_tokens'"),
       &LedgerRow::cache_creation_tokens, Part::amounts},
      {of_metadata("->'usage_object'->'completion_tokens_details'->>'reasoning_tokens'"),
       &LedgerRow::reasoning_tokens, Part::amounts},
      // A table without the column says nothing; a row without an address says that.
      {{"api_base", "coalesce(nullif(nullif(api_base, ''), 'None'), 'none')", true},
       &LedgerRow::api_base,
       Part::addresses},
      {{"response", "response->'choices'->0->>'finish_reason'", true},
       &LedgerRow::finish_reason,
       Part::finish_reasons},
  };
  return kFields;
}

bool is_wanted(Part part, const LedgerColumns& columns) {
  switch (part) {
    case Part::always:
      break;
    case Part::amounts:
      return columns.amounts;
    case Part::addresses:
      return columns.addresses;
    case Part::finish_reasons:
      return columns.finish_reasons;
  }
  return true;
}

std::string_view text_of(const SqlValue& value) {
  return !value || *value == "None" ? std::string_view() : *value;
}

}  // namespace

RowTable ledger_table(const LedgerColumns& columns) {
  RowTable table{std::string(kLedgerTable), "request_id", "startTime", "endTime", {}};
  for (const Field& field : fields()) {
    table.columns.push_back(field.column);
    if (!is_wanted(field.part, columns)) table.columns.back().expression = "null";
  }
  return table;
}

LedgerRow ledger_row(std::string_view id, Timestamp end, SqlRow values) {
  LedgerRow row;
  row.request_id = id;
  row.end = end;
  for (std::size_t i = 0; i < fields().size(); ++i) {
    if (const std::string_view text = text_of(values[i]); !text.empty()) {
      row.*(fields()[i].target) = text;
    }
  }
  return row;
}

}  // namespace outcomed::litellm

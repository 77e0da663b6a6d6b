// `report prices` for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "daemon/report/report_text.h"
#include "detectors/price/span.h"

namespace outcomed {

// `currency`: that of the price tables.
ReportText price_text(const PriceSpanReport& report, TimeRange range, std::string_view currency);

// The documented fields (docs/reports.md); amounts in units of the currency.
std::string price_json(const PriceSpanReport& report, TimeRange range, std::string_view currency);

}  // namespace outcomed

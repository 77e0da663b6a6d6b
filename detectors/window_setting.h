// The setting `window` of rules that look back over whole steps.
#pragma once

#include "queries/base/params.h"

namespace outcomed {

// Says what is wrong with a window for a signal of this step: shorter than it, no multiple of it,
// or more than 100000 of them.
void check_window(ParamVisitor& visitor, Duration window, Duration step);

}  // namespace outcomed

#include "daemon/calendar/time_zones.h"

#include <date/tz.h>

#include <exception>

namespace outcomed {
namespace {

class SystemZone final : public TimeZone {
 public:
  explicit SystemZone(const date::time_zone* zone) : zone_(zone) {}

  [[nodiscard]] Duration offset(Timestamp at) const override { return zone_->get_info(at).offset; }

 private:
  const date::time_zone* zone_;
};

class SystemZones final : public TimeZones {
 public:
  [[nodiscard]] std::shared_ptr<const TimeZone> find(std::string_view name) const override try {
    return std::make_shared<SystemZone>(date::locate_zone(name));
  } catch (const std::exception&) {
    return nullptr;  // No such zone, or no database at all.
  }
};

}  // namespace

std::shared_ptr<const TimeZones> system_time_zones() { return std::make_shared<SystemZones>(); }

}  // namespace outcomed

#include "queries/recording/column_roles.h"

#include <string_view>
#include <tuple>

namespace outcomed {
namespace {

enum class Role { splits, repeats, open };

// What rows of one step say that are alike in the columns `kept`.
struct Agreement {
  bool several = false;  // There are such rows.
  bool differ = false;   // Some of them disagree about n,
  bool varies = false;   // or they agree, on another n here than there.
};

Agreement agreement(const ValueSets& sets, std::span<const CsvRow> rows,
                    const std::vector<bool>& kept) {
  const std::vector<std::uint32_t> ids = project_sets(sets, kept);
  std::vector<std::tuple<std::int64_t, std::uint32_t, std::int64_t>> keys;  // Step, id, n.
  keys.reserve(rows.size());
  for (const CsvRow& row : rows) keys.emplace_back(row.step, ids[row.labels], row.n);
  std::ranges::sort(keys);
  Agreement found;
  std::int64_t first_n = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const auto& [step, id, n] = keys[i];
    if (step != std::get<0>(keys[i - 1]) || id != std::get<1>(keys[i - 1])) continue;
    if (!found.several) first_n = n;
    found.several = true;
    found.differ |= n != std::get<2>(keys[i - 1]);
    found.varies |= n != first_n;
  }
  return found;
}

Role role_of(const ValueSets& sets, std::span<const CsvRow> rows, std::size_t column) {
  std::vector<bool> others;
  for (std::size_t i = 0; sets.size() > 0 && i < sets.at(0).size(); ++i) {
    others.push_back(i != column);
  }
  const Agreement alone = agreement(sets, rows, others);
  if (alone.differ) return Role::splits;
  if (alone.varies) return Role::repeats;
  const bool filled_without_failures = std::ranges::any_of(
      rows, [&](const CsvRow& row) { return row.k == 0 && !sets.at(row.labels)[column].empty(); });
  if (filled_without_failures) return Role::splits;
  return alone.several ? Role::repeats : Role::open;
}

}  // namespace

std::vector<std::uint32_t> project_sets(const ValueSets& sets, const std::vector<bool>& kept) {
  ValueSets projected;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < sets.size(); ++id) {
    std::vector<std::string_view> values;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) values.push_back(sets.at(id)[i]);
    }
    ids.push_back(projected.intern(values));
  }
  return ids;
}

bool find_splitting_columns(const ValueSets& sets, std::span<const CsvRow> rows,
                            const std::vector<std::size_t>& open, std::vector<bool>& splits) {
  std::vector<std::size_t> undecided;
  if (!agreement(sets, rows, splits).several) return false;
  for (const std::size_t column : open) {
    const Role role = role_of(sets, rows, column);
    splits[column] = role == Role::splits;
    if (role == Role::open) undecided.push_back(column);
  }
  if (!agreement(sets, rows, splits).differ) return true;
  for (const std::size_t column : undecided) splits[column] = true;
  if (!agreement(sets, rows, splits).differ) return true;
  for (const std::size_t column : open) splits[column] = true;
  return true;
}

}  // namespace outcomed

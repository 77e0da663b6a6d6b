#include "daemon/rescore/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr double kLeft = 84;
constexpr double kTop = 104;
constexpr double kSide = 540;  // The plot is square.
constexpr double kGreatestRadius = 17;
constexpr std::size_t kMostCircles = 600;
constexpr std::size_t kMostCounted = 80;  // Beyond, numbers beside circles would cover others.
constexpr std::size_t kGrid = 40;

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return safe;
}

// One axis: from a score to pixels along it, and where its marks stand.
struct ScoreAxis {
  double low = 0;
  double high = 1;
  double step = 1;

  ScoreAxis(double least, double greatest) {
    if (least == greatest) {
      const double room = std::max(1.0, std::abs(least) * 0.1);
      least -= room;
      greatest += room;
    }
    const double rough = (greatest - least) / 8;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    step = power * 10;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (power * factor >= rough) step = power * factor;
    }
    const double room = (greatest - least) * 0.04;
    low = least - room;
    high = greatest + room;
  }
  [[nodiscard]] double at(double score) const { return (score - low) / (high - low) * kSide; }
  // Counted in whole numbers: far from 0 a mark plus a small step can be the same mark.
  [[nodiscard]] std::vector<double> marks() const {
    std::vector<double> scores;
    const double first = std::ceil(low / step);
    for (int i = 0; i < 20 && (first + i) * step <= high; ++i) scores.push_back((first + i) * step);
    return scores;
  }
};

struct Circle {
  double old_score = 0;
  double new_score = 0;
  double count = 0;
};

std::vector<Circle> circles_of(const PairTable& pairs, const ScoreAxis& x, const ScoreAxis& y) {
  std::map<std::pair<double, double>, double> counts;
  for (const PairCell& cell : pairs.cells) {
    counts[{pairs.old_scores[cell.row], pairs.new_scores[cell.column]}] += cell.count;
  }
  if (counts.size() > kMostCircles) {
    const auto middle = [](const ScoreAxis& axis, double score) {
      const double width = (axis.high - axis.low) / static_cast<double>(kGrid);
      return axis.low + (std::floor((score - axis.low) / width) + 0.5) * width;
    };
    std::map<std::pair<double, double>, double> grid;
    for (const auto& [scores, count] : counts) {
      grid[{middle(x, scores.first), middle(y, scores.second)}] += count;
    }
    counts.swap(grid);
  }
  std::vector<Circle> circles;
  for (const auto& [scores, count] : counts)
    circles.push_back({scores.first, scores.second, count});
  // Large ones first, so that small ones lie on top.
  std::ranges::stable_sort(circles, std::greater{}, &Circle::count);
  return circles;
}

// Items at the threshold pass: the line lies just below them, at most half way to the next score.
double line_at(const ScoreAxis& axis, const std::vector<double>& scores, double threshold) {
  const auto next = std::ranges::lower_bound(scores, threshold);
  double gap = 8;
  if (next != scores.begin() && next != scores.end()) {
    gap = std::min(gap, (axis.at(threshold) - axis.at(*std::prev(next))) / 2);
  }
  return std::clamp(axis.at(threshold) - std::max(0.0, gap), 0.0, kSide);
}

class FeedPicture {
 public:
  FeedPicture(const FeedReport& feed, const RescoreTerms& terms, const JudgeNames& names)
      : feed_(feed),
        terms_(terms),
        names_(names),
        same_scale_(alike(feed.pairs)),
        x_(axis_of(feed.pairs.old_scores, feed.pairs.new_scores, same_scale_)),
        y_(axis_of(feed.pairs.new_scores, feed.pairs.old_scores, same_scale_)) {}

  std::string draw() {
    out_ =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"720\" "
        "viewBox=\"0 0 680 720\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
        "fill=\"#1f2933\">\n<rect width=\"680\" height=\"720\" fill=\"#ffffff\"/>\n";
    headline();
    marks();
    lines();
    circles();
    return std::move(out_) + "</svg>\n";
  }

 private:
  static bool alike(const PairTable& pairs) {
    const double old_range = pairs.old_scores.back() - pairs.old_scores.front();
    const double new_range = pairs.new_scores.back() - pairs.new_scores.front();
    const double together = std::max(pairs.old_scores.back(), pairs.new_scores.back()) -
                            std::min(pairs.old_scores.front(), pairs.new_scores.front());
    return together <= 4 * std::max(old_range, new_range) &&
           std::max(old_range, new_range) <= 8 * std::max(std::min(old_range, new_range), 1e-300);
  }
  static ScoreAxis axis_of(const std::vector<double>& own, const std::vector<double>& other,
                           bool shared) {
    if (!shared) return {own.front(), own.back()};
    return {std::min(own.front(), other.front()), std::max(own.back(), other.back())};
  }

  [[nodiscard]] double px(double score) const { return kLeft + x_.at(score); }
  [[nodiscard]] double py(double score) const { return kTop + kSide - y_.at(score); }

  void text(double x, double y, std::string_view more, const std::string& words) {
    out_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view more) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                        y1, x2, y2, more);
  }

  void headline() {
    const DecisionTable& made = feed_.at_new_threshold.table;
    const std::string feed = feed_.feed.empty() ? "(no name)" : feed_.feed;
    text(kLeft, 30, "font-size=\"17\" font-weight=\"600\"",
         fmt::format("{}: {} against {}, {:.0f} items", feed, names_.new_judge, names_.old_judge,
                     feed_.n));
    std::string rank = "no rank correlation: a score never varies";
    if (feed_.ranks.spearman) rank = fmt::format("Spearman {:.3f}", *feed_.ranks.spearman);
    if (feed_.ranks.interval) {
      rank +=
          fmt::format(" ({:.3f} to {:.3f})", feed_.ranks.interval->low, feed_.ranks.interval->high);
    }
    text(kLeft, 52, "", fmt::format("{}; mean shift {:+.2f}", rank, feed_.shift.mean));
    text(kLeft, 72, "",
         fmt::format(
             "Passes with both judges: {:.0f}; only new: {:.0f}; only old: {:.0f}; neither: {:.0f}",
             made.both.items, made.only_new.items, made.only_old.items, made.neither.items));
  }

  void marks() {
    out_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#9aa5b1\"/>\n",
        kLeft, kTop, kSide, kSide);
    for (const double mark : x_.marks()) {
      const double at = px(mark);
      line(at, kTop, at, kTop + kSide, "stroke=\"#e4e7eb\"");
      text(at, kTop + kSide + 18, "text-anchor=\"middle\"", number_text(mark));
    }
    for (const double mark : y_.marks()) {
      const double at = py(mark);
      line(kLeft, at, kLeft + kSide, at, "stroke=\"#e4e7eb\"");
      text(kLeft - 8, at + 4, "text-anchor=\"end\"", number_text(mark));
    }
    text(kLeft + kSide / 2, kTop + kSide + 44, "text-anchor=\"middle\" font-size=\"13\"",
         "old score: " + names_.old_judge);
    text(0, 0,
         fmt::format("transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
                     "font-size=\"13\"",
                     28.0, kTop + kSide / 2),
         "new score: " + names_.new_judge);
  }

  void lines() {
    if (same_scale_) {
      line(kLeft, kTop + kSide, kLeft + kSide, kTop, "stroke=\"#9aa5b1\" stroke-width=\"1.2\"");
      text(kLeft + 36, kTop + kSide - 12, "fill=\"#7b8794\"", "equal scores");
    }
    const double old_at = kLeft + line_at(x_, feed_.pairs.old_scores, terms_.old_threshold);
    line(old_at, kTop, old_at, kTop + kSide,
         "stroke=\"#b44d12\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"");
    text(std::clamp(old_at, kLeft + 60, kLeft + kSide - 60), kTop - 8,
         "text-anchor=\"middle\" fill=\"#b44d12\"",
         "old passes from " + number_text(terms_.old_threshold));
    const double threshold = feed_.at_new_threshold.threshold;
    const double new_at = kTop + kSide - line_at(y_, feed_.pairs.new_scores, threshold);
    line(kLeft, new_at, kLeft + kSide, new_at,
         "stroke=\"#b44d12\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"");
    text(kLeft + 6, std::max(new_at - 6, kTop + 14), "fill=\"#b44d12\"",
         "new passes from " + number_text(threshold));
  }

  void circles() {
    const std::vector<Circle> circles = circles_of(feed_.pairs, x_, y_);
    const double most = circles.front().count;
    for (const Circle& circle : circles) {
      const double radius = std::max(1.8, kGreatestRadius * std::sqrt(circle.count / most));
      const double x = px(circle.old_score);
      const double y = py(circle.new_score);
      out_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"#2a6fb0\" fill-opacity=\"0.55\" "
          "stroke=\"#1d4f80\" stroke-width=\"0.8\"><title>{}</title></circle>\n",
          x, y, radius,
          fmt::format("old {}, new {}: {:.0f} items", number_text(circle.old_score),
                      number_text(circle.new_score), circle.count));
      const std::string count = fmt::format("{:.0f}", circle.count);
      if (radius >= 9) {
        text(x, y + 4, "text-anchor=\"middle\" font-size=\"11\" fill=\"#0b2239\"", count);
      } else if (circles.size() <= kMostCounted) {
        text(x + radius + 2, y + 4, "font-size=\"10\" fill=\"#52606d\"", count);
      }
    }
  }

  const FeedReport& feed_;
  const RescoreTerms& terms_;
  const JudgeNames& names_;
  bool same_scale_;
  ScoreAxis x_;
  ScoreAxis y_;
  std::string out_;
};

}  // namespace

std::string feed_svg(const FeedReport& feed, const RescoreTerms& terms, const JudgeNames& names) {
  return FeedPicture(feed, terms, names).draw();
}

std::vector<std::string> svg_file_names(const std::vector<FeedReport>& feeds) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const FeedReport& feed : feeds) {
    std::string name;
    for (const char c : feed.feed.substr(0, 100)) {
      const bool kept = is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
      name += kept ? c : '_';
    }
    if (name.empty() || name.front() == '.') name.insert(0, "feed");
    std::string free = name;
    for (int i = 2; !taken.insert(free).second; ++i) free = fmt::format("{}-{}", name, i);
    names.push_back(free + ".svg");
  }
  return names;
}

}  // namespace outcomed

#include "compiler/strict_json.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <vector>

#include "core/text.h"

namespace gemmc {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 32;
constexpr size_t kMessageLimit = 300;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The parser's callback. It throws, since the parser itself would go on to the end of the text.
class Checker {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMaxDepth)
      throw Refused(fmt::format("nesting deeper than {}; allowed: up to {}", kMaxDepth, kMaxDepth));
    if (event == Json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      if (!keys_.back().insert(key).second) {
        throw Refused("key " + in_quotes(key) + " stands twice in one object; allowed: once");
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;  // of the objects around the current place, the outermost first
};

}  // namespace

Expected<Json> parse_strict_json(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return Status::invalid(fmt::format("the JSON text has {} bytes; allowed: up to {}", text.size(), kMaxJsonBytes));
  }
  try {
    Checker checker;
    return Json::parse(text, std::ref(checker));
  } catch (const Refused& refused) {
    return Status::invalid(refused.what());
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, ...": the part in brackets says nothing to users.
    std::string_view reason = error.what();
    if (const size_t bracket = reason.find("] "); bracket != std::string_view::npos) reason.remove_prefix(bracket + 2);
    return Status::invalid("not valid JSON: " + one_line(reason, kMessageLimit));
  } catch (const std::exception& error) {
    return Status::environment(std::string("the JSON text cannot be read: ") + error.what());
  }
}

}  // namespace gemmc

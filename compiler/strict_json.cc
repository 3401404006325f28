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

// Reads the text without keeping it, and throws at the first thing that is refused. Not a callback of the library's own
// parser: with one, it searches an array anew at the end of every object in it.
class Checker : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }

  bool start_object(size_t) override {
    enter();
    keys_.emplace_back();
    return true;
  }
  bool key(std::string& key) override {
    if (keys_.back().insert(key).second) return true;
    throw Refused("key " + in_quotes(key) + " stands twice in one object; allowed: once");
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    enter();
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  // The parser that follows says what is wrong.
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  void enter() {
    if (++depth_ > kMaxDepth) {
      throw Refused(fmt::format("nesting deeper than {}; allowed: up to {}", kMaxDepth, kMaxDepth));
    }
  }

  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the objects around the current place, the outermost first
};

}  // namespace

Expected<Json> parse_strict_json(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return Status::invalid(fmt::format("the JSON text has {} bytes; allowed: up to {}", text.size(), kMaxJsonBytes));
  }
  // The parser takes it for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return Status::invalid(fmt::format("not valid JSON: a byte with the value 0 at position {}", nul));
  }
  try {
    Checker checker;
    Json::sax_parse(text, &checker);
    return Json::parse(text);
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

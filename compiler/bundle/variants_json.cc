#include "compiler/bundle/variants_json.h"

#include "core/problem.h"

namespace gemmc {

nlohmann::ordered_json variants_json(const Artifact& artifact, const std::vector<std::string>& dim_names) {
  using Json = nlohmann::ordered_json;
  Json variants = Json::array();
  for (const ArtifactVariant& variant : artifact.variants) {
    Json dims = Json::object();
    for (const BoundDim& dim : variant.when.dims) dims[dim_names[dim_index(dim.name)]] = dim.size;
    variants.push_back({{"dims", dims},
                        {"most_rows", variant.when.most_rows ? Json(*variant.when.most_rows) : Json()},
                        {"schedule", variant.schedule}});
  }
  return variants;
}

}  // namespace gemmc

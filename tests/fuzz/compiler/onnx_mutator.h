// Changes to a model that keep it a model: a random field gets another value, most often one that fits somewhere else.
#pragma once

namespace onnx {
class ModelProto;
}

namespace gemmc::testing {

// One to four changes, decided by `seed` alone.
void mutate_model(::onnx::ModelProto& model, unsigned int seed);

}  // namespace gemmc::testing

"""The demo's comparison accepts what rounding explains and nothing else."""

import unittest

import numpy as np
from real_model.agreement import allowed_difference, largest_difference


class Agreement(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.a = random.standard_normal((2, 5, 64), np.float32)
        self.b = random.standard_normal((64, 7), np.float32)
        self.y = np.matmul(self.a, self.b)
        self.allowed = allowed_difference(self.a, self.b)

    def difference(self, found):
        return largest_difference(found, self.y, self.allowed)

    def test_another_order_of_summation_agrees(self):
        reversed_sum = np.matmul(self.a[..., ::-1].copy(), self.b[::-1].copy())
        self.assertFalse(np.array_equal(reversed_sum, self.y))
        self.assertLess(self.difference(reversed_sum), 1)

    def test_the_bound_is_per_element(self):
        a, b = np.array([[1, 2], [3, 4]], np.float32), np.array([[1, 0], [0, -1]], np.float32)
        expected = 2 * (6 * 2.0**-24 * np.array([[1, 2], [3, 4]]) + 6 * 2.0**-149)
        np.testing.assert_array_equal(allowed_difference(a, b), expected)

    def test_one_wrong_element_is_found(self):
        wrong = self.y.copy()
        wrong[1, 3, 2] += 1.5 * self.allowed[1, 3, 2]
        self.assertGreater(self.difference(wrong), 1)
        self.assertLess(self.difference(wrong), 2)

    def test_an_element_that_was_not_written_is_found(self):
        wrong = self.y.copy()
        wrong[0, 0, 0] = np.nan
        self.assertEqual(self.difference(wrong), np.inf)

    def test_another_shape_never_agrees(self):
        self.assertEqual(self.difference(self.y[0]), np.inf)

    def test_equal_infinities_and_nan_agree(self):
        y = np.array([np.inf, -np.inf, np.nan, 1], np.float32)
        allowed = np.array([np.inf, np.inf, np.nan, 1e-6])
        self.assertEqual(largest_difference(y, y.copy(), allowed), 0)
        self.assertEqual(largest_difference(-y, y, allowed), np.inf)


if __name__ == "__main__":
    unittest.main()

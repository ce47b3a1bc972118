"""What tests of captured functions share.

    class Tests(CapturingCase):
        def test_sum(self):
            self.agrees(function, np.ones(3))
"""

import unittest

import numpy as np

import tokamak as tk


class CapturingCase(unittest.TestCase):
    def agrees(self, function, *arguments):
        """The function captured gives what it gives of NumPy's arrays."""
        np.testing.assert_array_equal(np.asarray(tk.jit(function)(*arguments)), function(*arguments))

    def refusal(self, function, *arguments):
        """The message with which its capture ends."""
        with self.assertRaises(tk.CaptureError) as caught:
            function(*arguments)
        return str(caught.exception)

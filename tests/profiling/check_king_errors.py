"""check_king_errors.py ROOT PROGRAM: by his quadrature kedge has the errors that King 2014 prints in Table 1, as far as the
discretisation decides them."""
import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT, PROGRAM = map(os.path.abspath, sys.argv[1:])
del sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "profiling"))
import king2014_beside


def lines(squares, last):
    done = subprocess.run([PROGRAM, "host", str(squares), "1", str(last)], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()[1:]]
    return {(line["source"], line["order"]): line for line in found}


class Errors(unittest.TestCase):
    his = king2014_beside.paper()["table_1"]
    ours = lines(40, 3)

    def printed(self, norm, order):
        """His number as text, ours with as many digits."""
        text = self.his[norm][order - 1]
        digits = len(text.partition("e")[0]) - 2
        return text, f"{self.ours['rule', order]['rule'][norm]:.{digits}e}"

    def test_l2_has_all_printed_digits_to_order_3(self):
        for order in 1, 2, 3:
            self.assertEqual(*self.printed("l2", order))

    def test_linf_has_all_printed_digits_to_order_2_and_nearly_at_3(self):
        for order in 1, 2:
            self.assertEqual(*self.printed("linf", order))
        his = float(self.his["linf"][2])
        self.assertLess(abs(self.ours["rule", 3]["rule"]["linf"] / his - 1), 2e-5)

    def test_a_rule_that_integrates_enough_is_3_percent_away(self):
        for order in 1, 2, 3:
            away = float(self.his["l2"][order - 1]) / self.ours["exact", order]["exact"]["l2"] - 1
            self.assertTrue(0.025 < away < 0.03, away)

    def test_source_and_norm_both_count(self):
        both = lines(20, 1)
        self.assertEqual(f"{both['exact', 1]['rule']['l2']:.4e}", "1.5807e-02")
        self.assertEqual(f"{both['rule', 1]['rule']['l2']:.4e}", "1.5677e-02")
        self.assertEqual(f"{both['exact', 1]['exact']['l2']:.4e}", "1.5240e-02")

    def test_wrong_arguments_are_refused(self):
        for words in ["40"], ["40", "0", "1"], ["40", "2", "1"], ["40", "1", "13"], ["0", "1", "1"]:
            done = subprocess.run([PROGRAM, "host", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: king_errors", done.stderr)


if __name__ == "__main__":
    unittest.main()

// Text of files as sentences and tables show it.
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "cmocka_all.h"

static void shows(const char *text, const char *expected)
{
  char shown[200], again[200];
  kg_text_show(text, shown, sizeof shown);
  assert_string_equal(shown, expected);
  kg_text_show(shown, again, sizeof again);
  assert_string_equal(again, expected);  // a sentence goes through more than one hand
}

static void text_that_can_be_read_stays(void **state)
{
  (void)state;
  shows("", "");
  static const char readable[] = "W\xc3\xa4nde 入口 \xf0\x9f\x94\xa5 ~ \\x1b";
  shows(readable, readable);
  shows("\xc2\xa0", "\xc2\xa0");  // the first behind C1, a blank
}

static void what_steers_a_terminal_is_escaped(void **state)
{
  (void)state;
  shows("\x1b]0;owned\a\x1b[31m", "\\x1b]0;owned\\x07\\x1b[31m");
  shows("a\nb\tc\rd\x7f", "a\\nb\\tc\\x0dd\\x7f");
  shows("\xc2\x9b[2J\xc2\x80\xc2\x9f", "\\u009b[2J\\u0080\\u009f");
  shows("ab\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6", "ab\\u202e\\u2028\\u2066");
}

static void bytes_that_are_no_text_are_escaped(void **state)
{
  (void)state;
  shows("W\xe4nde \x9b", "W\\xe4nde \\x9b");                            // Latin-1, C1 in one byte
  shows("\xc0\x9b\xed\xa0\x80\xff", "\\xc0\\x9b\\xed\\xa0\\x80\\xff");  // overlong, half a pair
  shows("\xe5\x85", "\\xe5\\x85");
}

static void what_does_not_fit_is_left_out_whole(void **state)
{
  (void)state;
  char text[6];
  kg_text_show("abc\x1b", text, sizeof text);
  assert_string_equal(text, "abc");
  kg_text_show("abcd\xc3\xa4", text, sizeof text);
  assert_string_equal(text, "abcd");
  kg_text_show("abcde", text, sizeof text);
  assert_string_equal(text, "abcde");
}

static void sentences_are_cut_between_characters(void **state)
{
  (void)state;
  char name[1200];
  for (size_t i = 0; i + 3 < sizeof name; i += 3) memcpy(name + i, "入", 4);
  for (int blanks = 0; blanks < 3; ++blanks) {
    KG_FAIL(NULL, KEDGE_ERR_INPUT, "%*s%s", blanks, "", name);
    const char *const sentence = kedge_context_error(NULL);
    assert_in_range(strlen(sentence), 1020, 1023);
    assert_null(strchr(sentence, '\\'));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(text_that_can_be_read_stays),
                                     cmocka_unit_test(what_steers_a_terminal_is_escaped),
                                     cmocka_unit_test(bytes_that_are_no_text_are_escaped),
                                     cmocka_unit_test(what_does_not_fit_is_left_out_whole),
                                     cmocka_unit_test(sentences_are_cut_between_characters)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

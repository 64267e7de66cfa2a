/* Calls the functions that dpc_add_library has made of finance.dp; fails where they are wrong. */
#include "finance.h"

#include <stdio.h>

int main(void)
{
    const double prices[] = {10, 20, 11, 22, 12, 18}, held[] = {2, 1}, expected[] = {40, 44, 42};
    const double series[] = {100, 110, 99, 50};
    const uint64_t offsets[] = {0, 3, 4};
    DpcError error = {0};
    finance_worth_result worth;
    finance_returns_result returns;
    DpcContext *context = dpc_open(finance_program(), NULL, &error);
    int done = context && finance_worth(context, prices, 3, 2, held, 2, &worth, &error);
    if (done) {
        for (uint64_t day = 0; day < worth.length; day++) {
            printf("day %d: %g\n", (int)day, worth.data[day]);
            done = done && worth.data[day] == expected[day];
        }
        finance_worth_free(&worth);
    }
    if (done && finance_returns(context, series, 2, offsets, &returns, &error)) {
        printf("%d returns of the first asset, %d of the second\n", (int)(returns.offsets1[1] - returns.offsets1[0]),
               (int)(returns.offsets1[2] - returns.offsets1[1]));
        done = returns.offsets1[1] == 2 && returns.offsets1[2] == 2;
        finance_returns_free(&returns);
    } else {
        done = 0;
    }
    if (error.text)
        fprintf(stderr, "%s\n", error.text);
    dpc_close(context);
    dpc_error_clear(&error);
    return done ? 0 : 1;
}

package org.example.bank;

import java.math.BigDecimal;

/** An account with a balance. */
public class Account {
    private BigDecimal balance = BigDecimal.ZERO;
    private final String owner;

    public Account(String owner) {
        this.owner = owner;
    }

    /** Adds money. */
    public void deposit(BigDecimal amount) {
        if (amount.signum() <= 0) {
            throw new IllegalArgumentException("amount must be positive");
        }
        balance = balance.add(amount);
    }

    @Override
    public String toString() {
        return owner + " has " + balance;
    }
}

//! What an operator sees from outside: figures, log files, traces, the health check, times.

mod clock;
mod collector;
mod figures;
mod health;
mod log_file;
mod traces;

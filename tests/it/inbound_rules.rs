//! What is taken in, for whom the bot feels meant, and what happens when there is too much.

mod addressing;
mod changes;
mod fairness;
mod keyings;
mod overflow;
mod pace;

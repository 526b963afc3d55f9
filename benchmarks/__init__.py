"""What irys_ti costs, measured: python -m benchmarks lists the programs."""

"""What happens, one use case a file: a coroutine that awaits ports only."""

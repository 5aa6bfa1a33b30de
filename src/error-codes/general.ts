import type { Entries } from './entry.ts'

export const general: Entries = {
  USAGE: {
    summary: 'The command line is not right.',
    meaning: 'Nothing was done. The exit code is 2.',
    remedy: '`hyperkube COMMAND --help` shows examples; `hyperkube` alone lists the commands.',
  },
  UNEXPECTED: {
    summary: 'Something went wrong that nobody foresaw: a mistake in hyperkube.',
    meaning:
      'What was done before it is done. What was written is whole: files are replaced at once or not at all.',
    remedy:
      'Run the same command with `--debug`, and report the output. Running it once more does no harm; it may even succeed if the cause was passing.',
  },
  TIMEOUT: {
    summary: 'The command did not end within the `--timeout` that was given.',
    meaning: 'It was told to stop, and finished what it could not leave half done.',
    remedy: 'Run it again: it goes on where it is. Give a longer `--timeout`, or none.',
  },
  TIMED_OUT: {
    summary: 'Something that hyperkube waited for did not come in time.',
    meaning: 'The message says what it was; after the colon stands what the last look at it said.',
    remedy: 'Mend what the last look said, and run the command again.',
  },
  COMMAND_NOT_RUN: {
    summary: 'A program could not be started.',
    meaning: 'It is not installed, not in `PATH`, or may not be executed.',
    remedy: '`command -v PROGRAM` shows whether and where it is; install it, or mend its permissions.',
  },
  COMMAND_FAILED: {
    summary: 'A program that hyperkube started has failed.',
    meaning: 'Its exit code and its last lines are in the message.',
    remedy: 'Those lines say what it wants. Type the same command by hand to see all of it.',
  },
  HOST_KNOWN: {
    summary: 'A host that was to be added is in cluster.yml already.',
    meaning: 'Two hosts cannot have one name. Nothing was done.',
    remedy: 'Choose another name, or run `hyperkube up`, which brings it to what the file says.',
  },
  LIMIT_UNKNOWN_HOST: {
    summary: '`--limit` names a host that cluster.yml does not have.',
    meaning:
      'Nothing was done, also not to the hosts that are known: a mistyped name must not halve a rollout.',
    remedy: 'Names are those of `spec.hosts[].name`; the hint lists them, or guesses which one you meant.',
  },
}

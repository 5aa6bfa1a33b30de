import type { Entries } from './entry.ts'

export const conformance: Entries = {
  CONFORMANCE_NO_PROGRAM: {
    summary: 'Upstream’s tests cannot be fetched for a machine like this one.',
    remedy:
      'Run `hyperkube conformance` on Linux, or name an e2e.test and a kubectl that run here: `--program FILE --kubectl FILE`.',
  },
  CONFORMANCE_CHECKSUM: {
    summary: 'The file with the digest of upstream’s tests, or of kubectl, is not one.',
    meaning: 'Without a digest nothing is run: whoever is on the way could have put it there.',
    remedy:
      'Look at the URL in the message. A mirror has to have `.sha256` files too; with `--program` and `--kubectl` nothing is fetched.',
  },
  CONFORMANCE_WRONG_DIGEST: {
    summary: 'What was fetched is not what its publisher says that it is.',
    meaning: 'The file was damaged or replaced, and was thrown away.',
    remedy:
      'Try again; if it stays so, compare mirror and upstream: `curl -fsSL URL | sha256sum`. With `--program` and `--kubectl` nothing is fetched.',
  },
  CONFORMANCE_NOT_LISTED: {
    summary: 'e2e.test does not say which tests it has.',
    meaning:
      'Before anything is run the suite is asked which tests fit `--focus` and `--skip`. Patterns are regular expressions as Go knows them: without looking ahead or back.',
    remedy: 'Look at what it said, in the message; `e2e.test --version` shows whether it runs here at all.',
  },
  CONFORMANCE_NAMES_NOT_READ: {
    summary: 'The file of `--only` cannot be read.',
    remedy:
      'It has the exact name of a test in each line; what begins with # is passed over. `hyperkube conformance --list` prints names.',
  },
  CONFORMANCE_UNKNOWN_TEST: {
    summary: 'A file of `--only` names a test that the suite does not have.',
    meaning: 'Names change from one version of Kubernetes to the next.',
    remedy: '`hyperkube conformance --list --focus .` prints all names of this version.',
  },
  CONFORMANCE_NO_TEST: {
    summary: 'Of all tests none is left to run.',
    meaning: 'A run without a test would prove nothing, so that it is no success.',
    remedy: 'Say less: `--focus`, `--skip`, `--only` and `--without-image` each leave tests out.',
  },
  CONFORMANCE_NOT_RUN: {
    summary: 'e2e.test could not be started.',
    remedy: 'Is it a program for this kind of machine, and may you run it? `e2e.test --version` says more.',
  },
  CONFORMANCE_REPORT_EXISTS: {
    summary: 'The directory for results is not empty.',
    meaning: 'Results of two runs side by side would be taken for those of one.',
    remedy: '`--report DIRECTORY` names another one.',
  },
}

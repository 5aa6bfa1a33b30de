import type { ErrorCodeEntries } from './entry.ts'

export const conformanceCodes: ErrorCodeEntries = {
  CONFORMANCE_NO_PROGRAM: {
    summary: 'The upstream conformance tests do not exist for this platform.',
    remedy:
      'Run `hyperkube conformance` on Linux, or pass programs that run here: `--program FILE --kubectl FILE`.',
  },
  CONFORMANCE_CHECKSUM: {
    summary: 'The checksum file of the conformance tests or of kubectl is invalid.',
    meaning: 'Without a digest hyperkube runs nothing, because an attacker could have replaced the file.',
    remedy:
      'Check the URL in the message. A mirror needs the `.sha256` files too. With `--program` and `--kubectl` nothing is downloaded.',
  },
  CONFORMANCE_WRONG_DIGEST: {
    summary: 'A download does not match the digest of its publisher.',
    meaning: 'The file was damaged or replaced, and hyperkube deleted it.',
    remedy:
      'Run the same command again. If it fails again, compare `curl -fsSL URL | sha256sum` for the mirror and upstream. With `--program` and `--kubectl` nothing is downloaded.',
  },
  CONFORMANCE_NOT_LISTED: {
    summary: 'e2e.test failed to list its tests.',
    meaning:
      'hyperkube lists the tests for `--focus` and `--skip` before it runs any. Patterns are Go regular expressions, without lookahead or lookbehind.',
    remedy: 'Check its output in the message. `e2e.test --version` shows whether it runs on this machine.',
  },
  CONFORMANCE_NAMES_NOT_READ: {
    summary: 'The file of `--only` cannot be read.',
    remedy:
      'Each line is the exact name of a test; lines that begin with # are ignored. `hyperkube conformance --list` prints the names.',
  },
  CONFORMANCE_UNKNOWN_TEST: {
    summary: 'The file of `--only` names a test that the suite does not have.',
    meaning: 'Test names change between Kubernetes versions.',
    remedy: '`hyperkube conformance --list --focus .` prints all names of this version.',
  },
  CONFORMANCE_NO_TEST: {
    summary: 'No test is left to run.',
    meaning: 'A run without a test proves nothing, so it does not count as success.',
    remedy: 'Relax the filters: `--focus`, `--skip`, `--only` and `--without-image` each exclude tests.',
  },
  CONFORMANCE_NOT_RUN: {
    summary: 'e2e.test could not be started.',
    remedy: 'Check that it is executable and built for this platform: `e2e.test --version`.',
  },
  CONFORMANCE_REPORT_EXISTS: {
    summary: 'The directory for results is not empty.',
    meaning: 'The results of two runs would be mixed up.',
    remedy: '`--report DIRECTORY` selects another one.',
  },
}

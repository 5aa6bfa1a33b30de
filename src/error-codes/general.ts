import type { ErrorCodeEntries } from './entry.ts'

export const generalCodes: ErrorCodeEntries = {
  UI_NOT_LISTENING: {
    summary: '`hyperkube ui` cannot listen on its port.',
    meaning: 'Usually another program uses the port.',
    remedy: 'Omit `--port`, so that a free port is used.',
  },
  UI_NOT_BUILT: {
    summary: 'The files of the web interface are missing.',
    meaning: 'hyperkube runs from its sources, and these files are built separately.',
    remedy: 'Run `npm run ui`. Executables and the npm package contain the files.',
  },
  UI_CLUSTER_UNKNOWN: {
    summary: 'The web interface does not show a cluster of this name.',
    meaning: 'The list of clusters was read when `hyperkube ui` started.',
    remedy: 'Start `hyperkube ui` again if fleet.yml has changed.',
  },
  UI_VIEW_EMPTY: {
    summary: 'A command that the web interface ran printed no result.',
    meaning: 'Usually cluster.yml has errors. The message contains what the command printed.',
    remedy: 'Run the command of the view in a terminal, for example `hyperkube status`.',
  },
  UI_PLAN_REPLACED: {
    summary: 'The plan on the page is not the newest plan of the cluster.',
    meaning:
      'Another page, or another `hyperkube ui`, has planned since. Only the newest plan can be applied.',
    remedy: 'Press Refresh on the plan page, and review the plan.',
  },
  UI_NOT_CONFIRMED: {
    summary: 'The browser did not confirm the change of a cluster.',
    meaning: 'A change needs the name of the cluster, as the operator types it below the plan.',
    remedy: 'Type the exact name of the cluster.',
  },
  RUN_UNKNOWN: {
    summary: 'There is no recorded run of this name.',
    meaning:
      'Runs are recorded on the machine where the command ran. The newest 50 of each cluster are kept.',
    remedy: '`hyperkube runs list` shows the runs of this machine.',
  },
  USAGE: {
    summary: 'The command line is invalid.',
    meaning: 'Nothing was changed. The exit code is 2.',
    remedy: '`hyperkube COMMAND --help` shows examples. `hyperkube` alone lists all commands.',
  },
  UNEXPECTED: {
    summary: 'hyperkube failed with an unexpected error. This is a bug in hyperkube.',
    meaning:
      'Earlier changes are in place. No file is half-written, because hyperkube replaces files atomically.',
    remedy:
      'Run the same command with `--debug` and report the output. Running it again is safe and succeeds if the cause was temporary.',
  },
  TIMEOUT: {
    summary: 'The command did not finish within `--timeout`.',
    meaning: 'hyperkube stopped after it had finished the operations that cannot be interrupted.',
    remedy: 'Run the same command again; it resumes. Set a longer `--timeout`, or none.',
  },
  TIMED_OUT: {
    summary: 'A condition that hyperkube waited for did not become true in time.',
    meaning: 'The message names the condition. The last observed state follows the colon.',
    remedy: 'Fix the problem that the last observed state shows, then run the same command again.',
  },
  COMMAND_NOT_RUN: {
    summary: 'hyperkube could not start a program.',
    meaning: 'The program is not installed, not in `PATH`, or not executable.',
    remedy: '`command -v PROGRAM` shows where it is. Install it, or fix its permissions.',
  },
  COMMAND_FAILED: {
    summary: 'A program that hyperkube started has failed.',
    meaning: 'The message holds its exit code and its last lines of output.',
    remedy: 'Read those lines. Run the same command by hand to see the complete output.',
  },
  TMPDIR_NOT_WRITTEN: {
    summary: 'hyperkube cannot write to the temporary directory of this machine.',
    meaning:
      'The disk is full, or you lack write permission. `hyperkube kubectl` and the test restore of a snapshot need the directory. No host was changed.',
    remedy:
      'Check `df -h` and `ls -ld` for the directory in the message. Or set another one: `TMPDIR=/var/tmp hyperkube COMMAND`.',
  },
  HOST_KNOWN: {
    summary: 'The host to add is already in cluster.yml.',
    meaning: 'Host names must be unique. Nothing was changed.',
    remedy: 'Choose another name. To apply the host that is in the file, run `hyperkube up`.',
  },
  LIMIT_UNKNOWN_HOST: {
    summary: '`--limit` names a host that is not in cluster.yml.',
    meaning: 'Nothing was changed on any host, because a typing error must not cause a partial rollout.',
    remedy: 'Use names of `spec.hosts[].name`. The hint lists them or suggests one.',
  },
}

export const contractCodes: ErrorCodeEntries = {
  CONTRACT_OTHER_KIND: {
    summary: 'A document has an unexpected kind.',
    meaning: 'The wrong file was passed, or another program wrote it.',
    remedy: 'Check its `apiVersion` and `kind`, and pass the right file.',
  },
  CONTRACT_VERSION: {
    summary: 'This hyperkube release cannot read the version of a document.',
    meaning: 'The release that wrote it is more than one minor release apart.',
    remedy:
      'Compare `hyperkube version` on both sides. Upgrade the older one to at most one minor release before the newer one.',
  },
  CONTRACT_NOT_VALID: {
    summary: 'A document does not match the schema of its version.',
    meaning: 'It was edited by hand or is damaged. The message names the fields.',
    remedy: 'Create it again with the program that wrote it. If that is hyperkube, please report this.',
  },
}

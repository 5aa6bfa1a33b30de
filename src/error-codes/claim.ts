import type { ErrorCodeEntries } from './entry.ts'

export const claimCodes: ErrorCodeEntries = {
  CLAIM_HELD: {
    summary: 'Another operator holds the operator lock and is changing the cluster.',
    meaning: 'Two operators at once would undo the changes of each other. Nothing was changed.',
    remedy:
      'Wait until the other run ends. A lock expires a minute after its operator is gone. `--force-unlock` takes it at once, and hosts then refuse requests of the other run.',
    symptoms: ['two-at-once'],
  },
  CLAIM_LOST: {
    summary: 'Another operator took the operator lock during this run.',
    meaning: 'The other operator used force, or this run could not renew the lock for a minute.',
    remedy:
      'Ask the other operator, check the changes with `hyperkube plan`, then run the same command again.',
    symptoms: ['two-at-once'],
  },
  AGENT_NO_SUCH_RUN: {
    summary: 'The agent of a host does not know the requested run.',
    meaning: 'The run never reached the host, or its record was deleted because it is too old.',
    remedy: 'Run the same command again; completed operations are not repeated.',
  },
  AGENT_LINE_TOO_LONG: {
    summary: 'The agent of a host received a message that exceeds the size limit.',
    meaning: 'Usually another program than hyperkube connects to the agent.',
    remedy:
      'Compare `hyperkube version` here and on the host. If they are at most one minor release apart, please report this.',
  },
}

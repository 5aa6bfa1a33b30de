import type { Adoption, Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { joinNames } from '../../kit/text.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity, saveIdentity } from '../../workspace/load-identity.ts'
import { exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'
import { runUp } from '../up/run-up.ts'

export const commitAdoptionCommand: LeafCommand = {
  examples: [
    ['hyperkube adopt commit --dry-run', 'show what would be deleted on each host'],
    [
      'hyperkube adopt commit',
      'prompt, then delete what hosts need to return to kubeadm or RKE1; new Secrets are encrypted from then on',
    ],
  ],
  sharedFlags: ['file', 'key', 'output', 'confirm'],
  configure(command) {
    addUpFlags(addRunFlags(command))
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const load = async (): Promise<Identity> => openIdentity(context, options, cluster.metadata.name)
    const identity = await load()
    const adoption = markCommitted(identity, context.now())
    let unreachable: readonly string[] = []
    return runUp(context, options, {
      command: 'adopt commit',
      cluster,
      findings,
      identity: { ...identity, adoption },
      beforeCommit: true,
      commits: true,
      onConnected: (connected) => (unreachable = [...connected.unreachable.keys()]),
      async persist() {
        if (unreachable.length > 0) throw notReachable(unreachable)
        // Host keys may have been added after the identity was read.
        await saveIdentity(context, options, { ...(await load()), adoption })
      },
    })
  },
}

function markCommitted({ adoption, metadata }: Identity, now: Date): Adoption {
  if (adoption !== undefined) return { ...adoption, committed: adoption.committed ?? now.toISOString() }
  throw new HyperkubeError('ADOPT_NOT_ADOPTED', `the cluster ${metadata.name} was not adopted`, {
    hint: 'nothing has to be committed; to list the nodes: hyperkube kubectl get nodes',
  })
}

function notReachable(hosts: readonly string[]): HyperkubeError {
  return new HyperkubeError(
    'ADOPT_HOSTS_PENDING',
    `${joinNames(hosts)} cannot be reached, so it is unknown what runs there; nothing was committed`,
    { hint: 'make the hosts reachable, then run the same command again' },
  )
}

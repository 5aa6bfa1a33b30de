import { Argument } from 'commander'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { list } from '../etcd/list.ts'
import { prune } from '../etcd/prune.ts'
import { save } from '../etcd/save.ts'
import { type EtcdAction, etcdFlags, keepFlag } from '../etcd/scene.ts'
import { status } from '../etcd/status.ts'
import { verify } from '../etcd/verify.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText } from '../print.ts'

/** By the words that stand for them. */
const actions: ReadonlyMap<string, EtcdAction> = new Map([
  ['status', status],
  ['snapshot save', save],
  ['snapshot list', list],
  ['snapshot verify', verify],
  ['snapshot prune', prune],
])

export const etcd: CommandDefinition = {
  examples: [
    ['hyperkube etcd status', 'who is a member, who leads, how large their databases are'],
    ['hyperkube etcd snapshot save', 'keep all that the cluster knows, with its identity, in one file'],
    ['hyperkube etcd snapshot save before-upgrade --to /mnt/backup', 'with a name, elsewhere'],
    ['hyperkube etcd snapshot save --to s3', 'into the bucket of spec.etcd.backup.s3'],
    ['hyperkube etcd snapshot list', 'those that are kept'],
    [
      'hyperkube etcd snapshot verify shop-2026-11-15T12-00-00Z',
      'restore it for real in an etcd for the moment',
    ],
    ['hyperkube etcd snapshot prune --keep 7', 'remove all but the newest, after a question'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<what>', 'what it is about').choices(['status', 'snapshot']))
      .addArgument(new Argument('[action]', 'what to do with snapshots: save, list, verify, prune'))
      .addArgument(new Argument('[name]', 'of a snapshot, or a file'))
      .option('--to <place>', 'save: a directory, or s3 (default: all places of spec.etcd.backup)')
      .option('--from <place>', 'list, verify, prune: look there alone')
      .option('--keep <number>', 'prune: how many stay (default: spec.etcd.backup.keep)', keepFlag)
  },
  async run(context, { args, options }) {
    const [what = '', verb, name] = args
    const act = actions.get(verb === undefined ? what : `${what} ${verb}`)
    if (act === undefined) {
      context.stderr.write(`USAGE: do what? ${[...actions.keys()].join(', ')}\n  → hyperkube etcd --help\n`)
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    return act({
      context,
      options,
      flags: etcdFlags.parse(options),
      cluster,
      identity: async () => openIdentity(context, options, cluster.metadata.name),
      name,
    })
  },
}

import { Argument } from 'commander'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { fetch } from '../etcd/fetch.ts'
import { list } from '../etcd/list.ts'
import { prune } from '../etcd/prune.ts'
import { save } from '../etcd/save.ts'
import { recover } from '../etcd/recover/recover.ts'
import { rejoin } from '../etcd/rejoin.ts'
import { restore } from '../etcd/restore/restore.ts'
import { type EtcdAction, etcdFlags, keepFlag } from '../etcd/action.ts'
import { status } from '../etcd/status.ts'
import { unpack } from '../etcd/unpack.ts'
import { verify } from '../etcd/verify.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText } from '../print.ts'
import { addRunFlags } from '../run-flags.ts'

/** By the words that stand for them. */
const actions: ReadonlyMap<string, EtcdAction> = new Map([
  ['status', status],
  ['recover', recover],
  ['snapshot save', save],
  ['snapshot fetch', fetch],
  ['snapshot list', list],
  ['snapshot verify', verify],
  ['snapshot prune', prune],
  ['snapshot restore', restore],
])

export const etcd: CommandDefinition = {
  examples: [
    ['hyperkube etcd status', 'who is a member, who leads, how large their databases are'],
    ['hyperkube etcd snapshot save', 'keep all that the cluster knows, with its identity, in one file'],
    ['hyperkube etcd snapshot save before-upgrade --to /mnt/backup', 'with a name, elsewhere'],
    ['hyperkube etcd snapshot save --to s3', 'into the bucket of spec.etcd.backup.s3'],
    ['hyperkube etcd snapshot list', 'those that are kept'],
    [
      'hyperkube etcd snapshot fetch cp1',
      'make one of the newest database that the host has kept by itself; or of a FILE of etcdctl',
    ],
    [
      'hyperkube etcd snapshot verify shop-2026-11-15T12-00-00Z',
      'restore it for real in an etcd for the moment',
    ],
    ['hyperkube etcd snapshot prune --keep 7', 'remove all but the newest, after a question'],
    [
      'hyperkube etcd snapshot restore before-upgrade',
      'say what would be lost, ask, and bring the cluster back to it',
    ],
    [
      'hyperkube etcd recover',
      'most members are lost for good: say what is left and what each would lose, ask, and come back from it',
    ],
    [
      'hyperkube etcd rejoin cp2',
      'its data is lost or damaged: let it learn everything from the other members',
    ],
    [
      'hyperkube etcd snapshot unpack FILE --key KEY --to shop',
      'take cluster.yml, its lock and its identity out of a snapshot',
    ],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(
        new Argument('<what>', 'what it is about').choices(['status', 'snapshot', 'recover', 'rejoin']),
      )
      .addArgument(
        new Argument(
          '[action]',
          'what to do with snapshots: save, fetch, list, verify, prune, restore, unpack; or the host that rejoins',
        ),
      )
      .addArgument(new Argument('[name]', 'of a snapshot, or a file; fetch: HOST, HOST:FILE or FILE'))
      .option(
        '--to <place>',
        'save, fetch: a directory, or s3 (default: all places of spec.etcd.backup); unpack: a directory',
      )
      .option('--from <place>', 'list, verify, prune, restore: look there alone')
      .option('--keep <number>', 'prune: how many stay (default: spec.etcd.backup.keep)', keepFlag)
      .option(
        '--dry-run',
        'restore, recover, rejoin: show what would be done and lost, and do nothing; exit code 3',
      )
      .option('--no-verify', 'restore, recover: without the trial in an etcd for the moment')
      .option('--force-unlock', 'restore, recover, rejoin: take the claim from somebody who holds it')
    addRunFlags(command)
  },
  async run(context, { args, options }) {
    const [what = '', verb, name] = args
    // There need not be a cluster.yml yet.
    if (what === 'snapshot' && verb === 'unpack') {
      return unpack(context, options, name, etcdFlags.parse(options).to)
    }
    const act = what === 'rejoin' ? rejoin : actions.get(verb === undefined ? what : `${what} ${verb}`)
    if (act === undefined) {
      context.stderr.write(
        `USAGE: do what? ${[...actions.keys(), 'rejoin', 'snapshot unpack'].join(', ')}\n  → hyperkube etcd --help\n`,
      )
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
      name: what === 'rejoin' ? verb : name,
    })
  },
}

import { Argument } from 'commander'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { fetchSnapshot } from '../etcd/fetch.ts'
import { listSnapshots } from '../etcd/list.ts'
import { pruneSnapshots } from '../etcd/prune.ts'
import { saveEtcdSnapshot } from '../etcd/save.ts'
import { recoverEtcd } from '../etcd/recover/recover.ts'
import { rejoinEtcd } from '../etcd/rejoin.ts'
import { restoreSnapshot } from '../etcd/restore/restore.ts'
import { type EtcdCommandAction, etcdFlags, parseKeepFlag } from '../etcd/action.ts'
import { showEtcdStatus } from '../etcd/status.ts'
import { unpackSnapshot } from '../etcd/unpack.ts'
import { verifyStoredSnapshot } from '../etcd/verify.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'

/** Actions by the words after `hyperkube etcd`. */
const actions: ReadonlyMap<string, EtcdCommandAction> = new Map([
  ['status', showEtcdStatus],
  ['recover', recoverEtcd],
  ['snapshot save', saveEtcdSnapshot],
  ['snapshot fetch', fetchSnapshot],
  ['snapshot list', listSnapshots],
  ['snapshot verify', verifyStoredSnapshot],
  ['snapshot prune', pruneSnapshots],
  ['snapshot restore', restoreSnapshot],
])

export const etcdCommand: CommandDefinition = {
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
    ['hyperkube etcd snapshot verify shop-2026-11-15T12-00-00Z', 'restore it for real in a temporary etcd'],
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
      .option('--keep <number>', 'prune: how many stay (default: spec.etcd.backup.keep)', parseKeepFlag)
      .option(
        '--dry-run',
        'restore, recover, rejoin: show what would be done and lost, and do nothing; exit code 3',
      )
      .option('--no-verify', 'restore, recover: without a test restore in a temporary etcd')
      .option('--force-unlock', 'restore, recover, rejoin: take the operator lock from its holder')
    addRunFlags(command)
  },
  async run(context, { args, options }) {
    const [what = '', verb, name] = args
    // unpack works without a cluster.yml.
    if (what === 'snapshot' && verb === 'unpack') {
      return unpackSnapshot(context, options, name, etcdFlags.parse(options).to)
    }
    const action = what === 'rejoin' ? rejoinEtcd : actions.get(verb === undefined ? what : `${what} ${verb}`)
    if (action === undefined) {
      context.stderr.write(
        `USAGE: do what? ${[...actions.keys(), 'rejoin', 'snapshot unpack'].join(', ')}\n  → hyperkube etcd --help\n`,
      )
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    return action({
      context,
      options,
      flags: etcdFlags.parse(options),
      cluster,
      identity: async () => openIdentity(context, options, cluster.metadata.name),
      name: what === 'rejoin' ? verb : name,
    })
  },
}

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
    ['hyperkube etcd status', 'show members, the leader and database sizes'],
    ['hyperkube etcd snapshot save', 'save etcd data and the sealed cluster identity as one snapshot'],
    [
      'hyperkube etcd snapshot save before-upgrade --to /mnt/backup',
      'save a named snapshot to another directory',
    ],
    ['hyperkube etcd snapshot save --to s3', 'save to the S3 bucket in spec.etcd.backup.s3'],
    ['hyperkube etcd snapshot list', 'list snapshots'],
    ['hyperkube etcd snapshot fetch cp1', 'make a snapshot from the newest automatic database backup on cp1'],
    [
      'hyperkube etcd snapshot verify shop-2026-11-15T12-00-00Z',
      'test the snapshot with a restore into a temporary etcd',
    ],
    ['hyperkube etcd snapshot prune --keep 7', 'delete all but the 7 newest snapshots, after a prompt'],
    [
      'hyperkube etcd snapshot restore before-upgrade',
      'show the data loss, prompt, then restore the cluster from the snapshot',
    ],
    [
      'hyperkube etcd recover',
      'after permanent quorum loss: list recovery sources, prompt, then restore the best',
    ],
    ['hyperkube etcd rejoin cp2', 'replace lost or damaged data on cp2 from the other members'],
    [
      'hyperkube etcd snapshot unpack FILE --key KEY --to shop',
      'extract cluster.yml, cluster.lock and the identity from a snapshot',
    ],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(
        new Argument('<what>', 'action or object').choices(['status', 'snapshot', 'recover', 'rejoin']),
      )
      .addArgument(
        new Argument(
          '[action]',
          'snapshot: save, fetch, list, verify, prune, restore or unpack; rejoin: host name',
        ),
      )
      .addArgument(new Argument('[name]', 'snapshot name or file; fetch: HOST, HOST:FILE or FILE'))
      .option(
        '--to <place>',
        'save, fetch: write to this directory or s3 (default: spec.etcd.backup); unpack: directory',
      )
      .option(
        '--from <place>',
        'list, verify, prune, restore, recover: use only this directory or s3 (default: spec.etcd.backup)',
      )
      .option(
        '--keep <number>',
        'prune: keep this many snapshots (default: spec.etcd.backup.keep)',
        parseKeepFlag,
      )
      .option(
        '--dry-run',
        'restore, recover, rejoin: show changes and data loss, without changing anything; exit code 3',
      )
      .option('--no-verify', 'restore, recover: skip the test restore')
      .option('--force-unlock', 'restore, recover, rejoin: break the operator lock of another operator')
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

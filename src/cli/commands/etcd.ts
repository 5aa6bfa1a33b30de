import { Argument, type Command } from 'commander'
import { openIdentity } from '../../workspace/load-identity.ts'
import { buildClusterCommand } from '../command/cluster-command.ts'
import type { CommandGroup, LeafCommand, SharedFlag } from '../command/command.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { type EtcdCommandAction, etcdFlags, parseKeepFlag } from '../etcd/action.ts'
import { fetchSnapshot } from '../etcd/fetch.ts'
import { listSnapshots } from '../etcd/list.ts'
import { pruneSnapshots } from '../etcd/prune.ts'
import { recoverEtcd } from '../etcd/recover/recover.ts'
import { rejoinEtcd } from '../etcd/rejoin.ts'
import { restoreSnapshot } from '../etcd/restore/restore.ts'
import { saveEtcdSnapshot } from '../etcd/save.ts'
import { showEtcdStatus } from '../etcd/status.ts'
import { unpackSnapshot } from '../etcd/unpack.ts'
import { verifyStoredSnapshot } from '../etcd/verify.ts'

const readFlags: readonly SharedFlag[] = ['file', 'key', 'output']
const changeFlags: readonly SharedFlag[] = [...readFlags, 'confirm']

function buildEtcdCommand(action: EtcdCommandAction, definition: Omit<LeafCommand, 'run'>): LeafCommand {
  return buildClusterCommand(
    async ({ args: [name], ...invocation }) =>
      action({
        ...invocation,
        flags: etcdFlags.parse(invocation.options),
        identity: async () =>
          openIdentity(invocation.context, invocation.options, invocation.cluster.metadata.name),
        name,
      }),
    definition,
  )
}

function addToFlag(command: Command): Command {
  return command.option('--to <place>', 'write to this directory or s3 (default: spec.etcd.backup)')
}

function addFromFlag(command: Command): Command {
  return command.option('--from <place>', 'use only this directory or s3 (default: spec.etcd.backup)')
}

/** Adds the flags of subcommands that replace the data of members. */
function addChangeFlags(command: Command): Command {
  return addRunFlags(
    command
      .option('--dry-run', 'show changes and data loss, without changing anything; exit code 3')
      .option('--force-unlock', 'break the operator lock of another operator'),
  )
}

const noVerify = ['--no-verify', 'skip the test restore'] as const

const snapshotGroup: CommandGroup = {
  subcommands: [
    {
      name: 'save',
      summary: 'Save etcd data and the sealed cluster identity as one snapshot',
      definition: buildEtcdCommand(saveEtcdSnapshot, {
        examples: [
          ['hyperkube etcd snapshot save', 'save to all stores in spec.etcd.backup'],
          [
            'hyperkube etcd snapshot save before-upgrade --to /mnt/backup',
            'save a named snapshot to another directory',
          ],
          ['hyperkube etcd snapshot save --to s3', 'save to the S3 bucket in spec.etcd.backup.s3'],
        ],
        sharedFlags: readFlags,
        configure: (command) =>
          addToFlag(
            command.addArgument(new Argument('[name]', 'snapshot name (default: cluster name and time)')),
          ),
      }),
    },
    {
      name: 'list',
      summary: 'List snapshots',
      definition: buildEtcdCommand(listSnapshots, {
        examples: [
          ['hyperkube etcd snapshot list', 'list snapshots of all stores, newest first'],
          ['hyperkube etcd snapshot list --from s3', 'list snapshots of the S3 bucket'],
        ],
        sharedFlags: readFlags,
        configure: addFromFlag,
      }),
    },
    {
      name: 'fetch',
      summary: 'Make a snapshot from a database that a host has backed up',
      definition: buildEtcdCommand(fetchSnapshot, {
        examples: [
          ['hyperkube etcd snapshot fetch cp1', 'use the newest automatic database backup on cp1'],
          ['hyperkube etcd snapshot fetch ./etcd.db', 'use a local database file'],
        ],
        sharedFlags: readFlags,
        configure: (command) =>
          addToFlag(command.addArgument(new Argument('<source>', 'HOST, HOST:FILE or a local file'))),
      }),
    },
    {
      name: 'verify',
      summary: 'Test a snapshot by a restore into a temporary etcd on this machine',
      definition: buildEtcdCommand(verifyStoredSnapshot, {
        examples: [
          ['hyperkube etcd snapshot verify before-upgrade', 'verify a snapshot of the stores'],
          ['hyperkube etcd snapshot verify ./before-upgrade.snapshot', 'verify a local file'],
        ],
        sharedFlags: readFlags,
        configure: (command) =>
          addFromFlag(command.addArgument(new Argument('<name>', 'snapshot name or local file'))),
      }),
    },
    {
      name: 'prune',
      summary: 'Delete old snapshots',
      definition: buildEtcdCommand(pruneSnapshots, {
        examples: [
          ['hyperkube etcd snapshot prune --keep 7', 'delete all but the 7 newest snapshots, after a prompt'],
        ],
        sharedFlags: changeFlags,
        configure: (command) =>
          addFromFlag(command).option(
            '--keep <number>',
            'keep this many snapshots (default: spec.etcd.backup.keep)',
            parseKeepFlag,
          ),
      }),
    },
    {
      name: 'restore',
      summary: 'Restore the cluster from a snapshot',
      definition: buildEtcdCommand(restoreSnapshot, {
        examples: [
          [
            'hyperkube etcd snapshot restore before-upgrade --dry-run',
            'show what the restore would change and lose',
          ],
          [
            'hyperkube etcd snapshot restore before-upgrade',
            'show the data loss, prompt, then restore all members',
          ],
        ],
        sharedFlags: changeFlags,
        configure: (command) =>
          addChangeFlags(
            addFromFlag(command.addArgument(new Argument('<name>', 'snapshot name or local file'))).option(
              ...noVerify,
            ),
          ),
      }),
    },
    {
      name: 'unpack',
      summary: 'Extract cluster.yml, cluster.lock and the identity from a snapshot',
      definition: {
        examples: [
          [
            'hyperkube etcd snapshot unpack shop.snapshot --key shop.key --to shop',
            'extract the files of a cluster of which only the snapshot and the key are left',
          ],
        ],
        sharedFlags: ['output'],
        configure: (command) =>
          command
            .addArgument(new Argument('<file>', 'snapshot file'))
            .requiredOption('--key <file>', 'key file of the cluster identity')
            .option('--to <directory>', 'write to this directory (default: the working directory)'),
        run: async (context, { args: [file = ''], options }) =>
          unpackSnapshot(context, options, file, etcdFlags.parse(options).to),
      },
    },
  ],
}

export const etcdCommand: CommandGroup = {
  subcommands: [
    {
      name: 'status',
      summary: 'Show members, the leader and database sizes',
      definition: buildEtcdCommand(showEtcdStatus, {
        examples: [['hyperkube etcd status', 'show members, the leader and database sizes']],
        sharedFlags: readFlags,
        configure: () => undefined,
      }),
    },
    {
      name: 'snapshot',
      summary: 'Save, list, verify, prune and restore snapshots',
      definition: snapshotGroup,
    },
    {
      name: 'recover',
      summary: 'Recover etcd after a permanent loss of quorum',
      definition: buildEtcdCommand(recoverEtcd, {
        examples: [
          ['hyperkube etcd recover --dry-run', 'list recovery sources and what each would lose'],
          ['hyperkube etcd recover', 'list recovery sources, prompt, then restore the best'],
        ],
        sharedFlags: changeFlags,
        configure: (command) => addChangeFlags(addToFlag(addFromFlag(command)).option(...noVerify)),
      }),
    },
    {
      name: 'rejoin',
      summary: 'Replace lost or damaged data of a member from the other members',
      definition: buildEtcdCommand(rejoinEtcd, {
        examples: [
          ['hyperkube etcd rejoin cp2 --dry-run', 'show what would change'],
          ['hyperkube etcd rejoin cp2', 'prompt, then remove the data of cp2 and join it again'],
        ],
        sharedFlags: changeFlags,
        configure: (command) =>
          addChangeFlags(command.addArgument(new Argument('<host>', 'host of the etcd member'))),
      }),
    },
  ],
}

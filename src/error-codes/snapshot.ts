import type { ErrorCodeEntries } from './entry.ts'

export const snapshotCodes: ErrorCodeEntries = {
  SNAPSHOT_CORRUPT: {
    summary: 'A snapshot was changed after it was created. The message names the first part that differs.',
    meaning: 'The usual cause is a failing disk. hyperkube uses nothing of it.',
    remedy: 'Copy it again from its source, or choose another one from `hyperkube etcd snapshot list`.',
  },
  SNAPSHOT_TRUNCATED: {
    summary: 'A snapshot is incomplete.',
    meaning: 'The usual cause is an interrupted copy. hyperkube uses nothing of it.',
    remedy: 'Copy it again from its source, or choose another one from `hyperkube etcd snapshot list`.',
  },
  SNAPSHOT_FOREIGN: {
    summary: 'The snapshot belongs to another cluster.',
    meaning:
      'Its identity differs from that of this cluster, or the key does not decrypt it. A snapshot from before a key change needs the previous key.',
    remedy:
      'Select the cluster.yml of the other cluster with `-f FILE`, or the matching key with `--key FILE`.',
  },
  SNAPSHOT_NOT_RESTORED: {
    summary: 'etcd could not be restored from an intact snapshot.',
    meaning: 'The error of etcd follows the colon. No host was changed.',
    remedy:
      'Check the free space of the temporary directory; `TMPDIR` selects another one. Otherwise use another snapshot.',
  },
  SNAPSHOT_MISMATCH: {
    summary: 'The restored data does not match the description in the snapshot.',
    meaning: 'The member that provided its database reported other values than it contained.',
    remedy:
      '`hyperkube etcd status` shows whether a member is damaged. Then run `hyperkube etcd snapshot save`.',
  },
  SNAPSHOT_NOT_WHOLE: {
    summary: 'The download of the etcd database is incomplete.',
    meaning: 'The digest that etcd sends at the end does not match. Nothing was stored.',
    remedy:
      'Run the same command again. If it fails again, check `journalctl -u etcd -n 50` on the host of the member.',
  },
  SNAPSHOT_TOO_LARGE: {
    summary: 'The etcd database is larger than 8 GiB, the limit of a snapshot.',
    meaning: 'etcd advises against databases of that size, because a joining member must copy all of it.',
    remedy:
      'Find what fills it: `kubectl get --raw /metrics | grep -E "apiserver_(resource|storage)_objects"`. Then run `etcdctl compact REVISION`, and `etcdctl defrag` on each member.',
  },
  SNAPSHOT_NOT_WRITTEN: {
    summary: 'hyperkube could not write a snapshot.',
    meaning: 'The disk is full, or you lack write permission. Nothing was stored.',
    remedy: 'Check `df -h` and `ls -ld` for the directory in the message. `--to` selects another one.',
  },
  SNAPSHOT_NO_ROOM: {
    summary: 'A host has not enough disk space for a snapshot of its etcd member.',
    meaning:
      'A tenth of the disk must stay free for etcd. Nothing was stored, and earlier snapshots are kept.',
    remedy: 'Check `df -h /var/lib/hyperkube` on the host and free space.',
  },
  SNAPSHOT_INVALID: {
    summary: 'A snapshot of a local etcd member failed its verification and was deleted.',
    meaning:
      'etcd found an error in it, or it contains less than the previous one. Earlier snapshots are kept.',
    remedy:
      '`hyperkube etcd status` shows whether a member is damaged. Check `journalctl -u etcd -n 50` on its host.',
  },
  SNAPSHOT_NAME: {
    summary: 'The given name of a snapshot is invalid.',
    remedy:
      'Use letters, digits, dots and dashes, at most 100: `hyperkube etcd snapshot save before-upgrade`.',
  },
  SNAPSHOT_EXISTS: {
    summary: 'A snapshot with that name already exists.',
    meaning: 'hyperkube never overwrites a snapshot.',
    remedy: 'Choose another name, or none: the default name contains the cluster and the time.',
  },
  SNAPSHOT_NOT_FOUND: {
    summary: 'The snapshot does not exist.',
    remedy: '`hyperkube etcd snapshot list` lists the snapshots. Pass a file by its path.',
  },
  SNAPSHOT_NOT_READ: {
    summary: 'A host could not read its stored database.',
    remedy:
      'Run the same command again. If the disk is failing, choose another one: `hyperkube etcd snapshot fetch HOST:FILE`.',
  },
  SNAPSHOT_STORE_UNKNOWN: {
    summary: 'The bucket for snapshots does not exist.',
    meaning: 'cluster.yml names no bucket, or the server does not know it.',
    remedy: 'Set it in `spec.etcd.backup.s3`, and create it on the server if needed.',
  },
  SNAPSHOT_STORE_NO_SECRET: {
    summary: 'The identity lacks the bucket key that cluster.yml refers to.',
    remedy: 'Run `hyperkube secret set NAME --from-file FILE`.',
  },
  SNAPSHOT_STORE_DENIED: {
    summary: 'The server of a bucket denies access.',
    meaning: 'The keys are wrong or lack permissions, or the clock of this machine is wrong.',
    remedy:
      'The keys need to list, read, put and delete objects. `hyperkube secret set NAME --from-file FILE` replaces a key. `timedatectl` shows the clock.',
  },
  SNAPSHOT_STORE_UNREACHABLE: {
    summary: 'The server of a bucket is unreachable or fails.',
    meaning: 'hyperkube retried several times. Incomplete uploads were deleted.',
    remedy: 'Check `curl -v` with the endpoint of `spec.etcd.backup.s3`. Then run the same command again.',
  },
  SNAPSHOT_STORE_FAILED: {
    summary: 'A snapshot store failed to process a request.',
    meaning: 'The message holds its error.',
    remedy: 'For a directory check `ls -ld` and `df -h`. For a bucket check `spec.etcd.backup.s3`.',
  },
  SNAPSHOT_UNPACK_EXISTS: {
    summary: 'A file to extract from a snapshot already exists.',
    meaning: 'Nothing was written, because your file may be newer.',
    remedy: '`--to` selects a directory that contains none of the three files.',
  },
}

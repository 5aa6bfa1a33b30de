import type { Entries } from './entry.ts'

export const snapshot: Entries = {
  SNAPSHOT_CORRUPT: {
    summary: 'A snapshot is not as it was made. The first part that differs is named.',
    meaning: 'Often a medium that fails. Somebody may also have changed it. Nothing of it is used.',
    remedy: 'Copy it again from where it is kept, or take another one: `hyperkube etcd snapshot list`.',
  },
  SNAPSHOT_TRUNCATED: {
    summary: 'A snapshot ends before its end.',
    meaning: 'Mostly a copy that was cut. Nothing of it is used.',
    remedy: 'Copy it again from where it is kept, or take another one: `hyperkube etcd snapshot list`.',
  },
  SNAPSHOT_FOREIGN: {
    summary: 'A snapshot is of another cluster.',
    meaning:
      'The identity in it is not that of this cluster, or the key does not open it. One that was made before the key was changed opens with the former key.',
    remedy: 'Name the other cluster’s file with `-f`, or the key that it was sealed with, with `--key`.',
  },
  SNAPSHOT_NOT_RESTORED: {
    summary: 'etcd could not be restored from a snapshot, although it is as it was made.',
    meaning: 'What etcd said stands behind the colon. Nothing was done to any host.',
    remedy:
      'Is there room in the directory for temporary files? `TMPDIR` names another one. Otherwise take another snapshot.',
  },
  SNAPSHOT_UNLIKE: {
    summary: 'What was restored from a snapshot is not what was there when it was made.',
    meaning: 'The member that gave its database knew something else than it said.',
    remedy: '`hyperkube etcd status` says whether a member is damaged. Then `hyperkube etcd snapshot save`.',
  },
  SNAPSHOT_NOT_WHOLE: {
    summary: 'etcd’s database has not come as a whole.',
    meaning: 'The digest that etcd sends at the end is not that of what came before. Nothing was kept.',
    remedy: 'The same command again. If it stays so: `journalctl -u etcd -n 50` on the member’s host.',
  },
  SNAPSHOT_TOO_LARGE: {
    summary: 'etcd’s database is larger than a snapshot can be, which is 8 GiB.',
    meaning: 'etcd itself advises against databases of that size: a member that joins needs all of it.',
    remedy:
      'Find what fills it: `kubectl get --raw /metrics | grep apiserver_storage_objects`. Then `etcdctl compact`, `etcdctl defrag` on each member.',
  },
  SNAPSHOT_NOT_WRITTEN: {
    summary: 'A snapshot could not be written.',
    meaning: 'There is no room, or you may not write there. Nothing was kept.',
    remedy: '`df -h` and `ls -ld` of the directory in the message. `--to` names another one.',
  },
  SNAPSHOT_NO_ROOM: {
    summary: 'A host has no room for a snapshot of its own member of etcd.',
    meaning:
      'A tenth of the disk stays free, because etcd itself needs it. Nothing was kept; the others stay.',
    remedy: '`df -h /var/lib/hyperkube` on the host, and make room.',
  },
  SNAPSHOT_NOT_GOOD: {
    summary: 'A snapshot that a host has taken of its own member of etcd is not good, and was not kept.',
    meaning:
      'etcd’s own program finds something wrong in it, or less than was there before. The former ones stay.',
    remedy:
      '`hyperkube etcd status` says whether a member is damaged; `journalctl -u etcd -n 50` on its host.',
  },
  SNAPSHOT_NAME: {
    summary: 'What was given as a name is none for a snapshot.',
    remedy: 'Letters, digits, dots and dashes, 100 at most: `hyperkube etcd snapshot save before-upgrade`.',
  },
  SNAPSHOT_EXISTS: {
    summary: 'There is a snapshot of that name already.',
    meaning: 'A snapshot never takes the place of another.',
    remedy: 'Give it a name that is free, or none: then it is named after the cluster and the time.',
  },
  SNAPSHOT_NOT_FOUND: {
    summary: 'There is no such snapshot.',
    remedy: '`hyperkube etcd snapshot list` names those that there are. A file is named by its path.',
  },
  SNAPSHOT_NOT_READ: {
    summary: 'A database that a host has kept could not be read.',
    remedy:
      'The same command again. If its disk fails, take another one: `hyperkube etcd snapshot fetch HOST:FILE`.',
  },
  SNAPSHOT_NO_PROGRAM: {
    summary: 'No etcd of the cluster’s lock runs on this machine, so a snapshot cannot be restored here.',
    remedy: 'Do it on a Linux machine of the same architecture as the members of etcd.',
  },
  SNAPSHOT_WRONG_PROGRAM: {
    summary: 'The etcd that was fetched is not the one of the lock.',
    meaning: 'A mirror is damaged, or upstream has replaced it. It was not run.',
    remedy: '`hyperkube lock --check` says whether upstream has changed it; otherwise mend the mirror.',
  },
  SNAPSHOT_STORE_UNKNOWN: {
    summary: 'There is no such bucket.',
    meaning: 'cluster.yml names none, or its server does not know it.',
    remedy: 'Say where it is in `spec.etcd.backup.s3`, and make it there if it does not exist.',
  },
  SNAPSHOT_STORE_NO_SECRET: {
    summary: 'The identity has not the key of the bucket that cluster.yml refers to.',
    remedy: '`hyperkube secret set NAME --from-file FILE` puts it there.',
  },
  SNAPSHOT_STORE_DENIED: {
    summary: 'The server of a bucket does not let us do it.',
    meaning: 'The keys are others, they may not do that, or the clock of this machine is wrong.',
    remedy:
      'The keys need to list, read, put and delete objects of the bucket. `hyperkube secret set NAME --from-file FILE` replaces one; `timedatectl` shows the clock.',
  },
  SNAPSHOT_STORE_UNREACHABLE: {
    summary: 'The server of a bucket does not answer, or fails.',
    meaning: 'It was asked several times. What was begun was taken back.',
    remedy:
      '`curl -v` with the endpoint of `spec.etcd.backup.s3` shows the way there. Then the same command.',
  },
  SNAPSHOT_STORE_FAILED: {
    summary: 'A place for snapshots did not do what it was asked to.',
    meaning: 'What it said is in the message.',
    remedy: 'For a directory: `ls -ld` and `df -h`. For a bucket: look at `spec.etcd.backup.s3`.',
  },
  SNAPSHOT_UNPACK_EXISTS: {
    summary: 'A file that was to be taken out of a snapshot is there already.',
    meaning: 'Nothing was written: yours may be younger than that of the snapshot.',
    remedy: '`--to` names a directory where none of the three files is.',
  },
}

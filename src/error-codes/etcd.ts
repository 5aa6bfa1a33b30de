import type { Entries } from './entry.ts'

export const etcd: Entries = {
  ETCD_UNREACHABLE: {
    summary: 'No member of etcd answers.',
    remedy:
      'On a member’s host: `systemctl status etcd` and `journalctl -u etcd -n 50`. From elsewhere: can its port 2379 be reached.',
  },
  ETCD_UNTRUSTED: {
    summary: 'What answers is not a member of this etcd, or it does not take our certificate.',
    meaning: 'Nothing was sent to it.',
    remedy:
      'Look at the address: another cluster may have it. `openssl s_client -connect ADDRESS:2379 </dev/null` shows who answers.',
  },
  ETCD_UNAVAILABLE: {
    summary: 'Members of etcd answer, but cannot decide anything.',
    meaning:
      'They have no leader, or did not agree in time: too few of them hear each other, or disks are slow.',
    remedy:
      '`journalctl -u etcd -n 50` on each member. Bring back those that are away; a leader is chosen within seconds.',
  },
  ETCD_TORN: {
    summary: 'The hosts of cluster.yml have members of more than one etcd.',
    meaning:
      'A cluster that was recovered has a new etcd. Hosts that were lost then, have power again and stand in cluster.yml still have the former one, and what is written there is not in the cluster. Nothing was done.',
    remedy:
      'Know which side the recovered one is: `hyperkube etcd status` with only one side in cluster.yml. `hyperkube reset --limit HOST,…` for the hosts of the other, then `hyperkube up`.',
  },
  ETCD_REFUSED: {
    summary: 'etcd did not do what it was asked to.',
    meaning: 'It says why in the message. A learner that has not caught up, for one, may not vote yet.',
    remedy: 'Do what the message says; for a learner, wait and try again.',
  },
  ETCD_ANSWER: {
    summary: 'A member’s answer is not what it should be.',
    meaning:
      'Something else answers in its place, or etcd is of a version that this hyperkube does not know.',
    remedy: '`curl` the address of the message by hand, and look at what answers.',
  },
  ETCD_MEMBERS_UNKNOWN: {
    summary: 'Nobody knows for sure who the members of etcd are, so none is added or removed.',
    meaning: 'Without a quorum each member knows only what it remembers.',
    remedy: 'Bring members back until more than half of them are well, and try again.',
  },
  ETCD_MEMBERS_CHANGED: {
    summary: 'The members of etcd are not those that were seen before.',
    meaning: 'Somebody else has changed them meanwhile, or another etcd answers. Nothing was done.',
    remedy: 'Run the command again: it looks at the members anew.',
  },
  ETCD_QUORUM: {
    summary: 'The change would leave etcd with too few members that are well, or nearly so.',
    meaning:
      'Nothing was done. Without more than half of its members etcd takes no writes, and the API stops.',
    remedy: 'Bring the members of the message back, or take out those that are lost for good, one at a time.',
  },
  ETCD_LEARNER: {
    summary: 'A member of etcd still learns, and does not vote.',
    meaning: 'It counts for nothing until it votes, and no other one may join before.',
    remedy:
      'Run the command that added it again: it goes on. If its host is lost, take it out: `hyperkube node remove HOST`.',
  },
  ETCD_LEARNER_STUCK: {
    summary: 'A new member of etcd did not get to vote in time, and was taken out again.',
    meaning:
      'The others are as they were. A member votes once it knows what they know; its disk or the way to it is too slow, or another member was away.',
    remedy:
      'Look at `journalctl -u etcd` of the host and at the state of the others, then run `hyperkube up` again.',
  },
  ETCD_NO_QUORUM: {
    summary: 'Too few members of etcd are well: it takes no writes, and the API stands still.',
    meaning: 'Pods go on running as they are. No restart helps; only members that come back do.',
    remedy:
      'Bring hosts back until more than half of the members are well. Only if they are lost for good: `hyperkube etcd recover`.',
    symptoms: ['etcd'],
  },
  ETCD_MEMBER_AWAY: {
    summary: 'A member of etcd is not well, or its host does not answer.',
    meaning: 'The others go on without it as long as more than half of all are well.',
    remedy: '`systemctl status etcd` and `journalctl -u etcd -n 50` on its host.',
    symptoms: ['etcd'],
  },
  ETCD_MEMBER_UNREADY: {
    summary: 'A member of etcd runs, but cannot serve.',
    meaning: 'Mostly it does not hear enough of the others; a restart of it helps nobody.',
    remedy: 'Look at the members that it does not hear, and at the network between the hosts, port 2380.',
    symptoms: ['etcd'],
  },
  ETCD_MEMBER_UNSTARTED: {
    summary: 'A member was announced to etcd, and has never started.',
    meaning: 'A run that was to add it has been cut. As a voter it would count among those that are away.',
    remedy:
      'Run the command that added it again, or take it out: `etcdctl member list`, `etcdctl member remove ID`.',
  },
  ETCD_ALARM_SPACE: {
    summary: 'A member of etcd has no space left, and etcd takes no more writes.',
    meaning: 'Its database has reached its quota. It stays so until the alarm is taken back.',
    remedy:
      'Find what fills it, mostly events or objects of one kind without end; then `etcdctl compact`, `etcdctl defrag` on each member, `etcdctl alarm disarm`.',
    symptoms: ['etcd'],
  },
  ETCD_ALARM_CORRUPT: {
    summary: 'A member of etcd knows something else than the others.',
    meaning: 'Its data is damaged. What the others know is not, and they go on.',
    remedy:
      'Take the member out and let it join anew with an empty data directory. Look at its disk and memory first.',
    symptoms: ['etcd'],
  },
  ETCD_SPACE: {
    summary: 'A member of etcd has used four fifths of the space that it may use.',
    meaning: 'When it is full, etcd takes no more writes.',
    remedy: 'Find what fills it: `kubectl get --raw /metrics | grep apiserver_storage_objects`.',
    symptoms: ['etcd'],
  },
  ETCD_BEHIND: {
    summary: 'A member of etcd is far behind the others.',
    meaning: 'Its disk or its network is too slow. It takes no requests until it has caught up.',
    remedy: 'Look at its disk: `journalctl -u etcd | grep "slow fdatasync"` on its host.',
    symptoms: ['etcd'],
  },
  ETCD_VERSIONS: {
    summary: 'Members of etcd are of several versions.',
    meaning: 'So it is during an upgrade. Until all are of the newer one, etcd behaves as the oldest.',
    remedy: 'Run the upgrade to its end.',
  },
  ETCD_RESTORE_UNFINISHED: {
    summary: 'A restore of etcd was begun, and has not ended.',
    meaning:
      'Some members may have data of the snapshot and others not. Nothing was done: they must not start together. Pods go on running.',
    remedy:
      'The same `hyperkube etcd snapshot restore` again goes on where it was cut. With another snapshot every member is given its data anew.',
  },
  ETCD_RESTORE_RUNNING: {
    summary: 'etcd runs on a host whose data was to be replaced.',
    meaning:
      'It was stopped, and somebody, or a restart of the host, has started it. Nothing was replaced there.',
    remedy: 'The same `hyperkube etcd snapshot restore` again: it stops it first.',
  },
  ETCD_RESTORE_NOT_BROUGHT: {
    summary: 'The data that was brought to a host for a restore is gone, or is not what was sent.',
    meaning: 'Nothing was replaced there. Somebody has emptied the directory, or the disk fails.',
    remedy:
      'The same `hyperkube etcd snapshot restore` again brings it anew. `dmesg` on the host tells of its disk.',
  },
  ETCD_RESTORE_VERSION: {
    summary: 'A snapshot is of another minor version of Kubernetes than cluster.yml.',
    meaning: 'An older Kubernetes may not be able to read what a newer one has written. Nothing was done.',
    remedy:
      '`hyperkube etcd snapshot unpack` takes cluster.yml and cluster.lock of then out of it. Or set `spec.kubernetes`, then `hyperkube lock`. `--ignore ETCD_RESTORE_VERSION` goes on all the same.',
  },
  ETCD_RESTORE_KEYS: {
    summary: 'Secrets in a snapshot are encrypted with a key that the identity of now does not have.',
    meaning:
      'The key was replaced after the snapshot was made. The cluster would come back with Secrets that nobody can read. Nothing was done.',
    remedy:
      'Restore with the identity of then: `hyperkube etcd snapshot unpack FILE --key KEY --to DIR`, and `-f DIR/cluster.yml`. Or take a younger snapshot.',
  },
  ETCD_RESTORE_LEFT_OUT: {
    summary: 'Members of etcd are not in cluster.yml, and would be left as they are by a restore.',
    meaning: 'API servers and controllers there would go on with the cluster of before. Nothing was done.',
    remedy:
      'Let them leave first: `hyperkube up`. If they are off for good, `--ignore ETCD_RESTORE_LEFT_OUT`.',
  },
  ETCD_RECOVER_QUORUM: {
    summary: 'etcd has a quorum, so there is nothing to recover.',
    meaning: 'Recovery gives up what lost members knew. As long as most are well, nothing need be given up.',
    remedy:
      'Take out members that are lost: `hyperkube node remove HOST`. To go back in time: `hyperkube etcd snapshot restore`.',
  },
  ETCD_RECOVER_NOTHING: {
    summary: 'No member of etcd answers, and no snapshot was found.',
    remedy:
      'Bring back any host that was a member, or find a snapshot: `hyperkube etcd snapshot restore FILE` takes one from wherever it is.',
  },
  ETCD_REJOIN_WELL: {
    summary: 'A host shall join etcd anew whose member is well.',
    meaning: 'A member that is well is not thrown away: etcd would have one less for nothing.',
    remedy:
      '`hyperkube etcd status` says how each member is. To let a host leave for good: `hyperkube node remove HOST`.',
  },
  ETCD_REJOIN_NOBODY: {
    summary: 'A host shall join etcd anew, and there are no others with a quorum that it could learn from.',
    remedy:
      '`hyperkube etcd recover` shows what is left on each host and in which snapshots, and comes back from what you choose.',
  },
  ETCD_REJOIN_AWAY: {
    summary: 'A host shall join etcd anew, and does not answer.',
    remedy:
      'Bring it back first. One that is lost for good leaves with `hyperkube node remove HOST`; another machine takes its place with `hyperkube node replace`.',
  },
}

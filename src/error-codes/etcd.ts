import type { ErrorCodeEntries } from './entry.ts'

export const etcdCodes: ErrorCodeEntries = {
  ETCD_UNREACHABLE: {
    summary: 'No etcd member responds.',
    remedy:
      'On the host of a member run `systemctl status etcd` and `journalctl -u etcd -n 50`. From another machine check that port 2379 is reachable.',
  },
  ETCD_UNTRUSTED: {
    summary: 'The server is not a member of this etcd, or it rejects our certificate.',
    meaning: 'hyperkube sent no request.',
    remedy:
      'Check the address; another cluster may use it. A `cluster.identity` from before the last rotation of the etcd CA has this effect too. `openssl s_client -connect ADDRESS:2379 </dev/null` shows the server certificate.',
  },
  ETCD_UNAVAILABLE: {
    summary: 'etcd members respond, but etcd has no leader.',
    meaning: 'Too few members reach each other, or their disks are too slow.',
    remedy:
      'Check `journalctl -u etcd -n 50` on each member and bring unreachable members back. An election takes a few seconds.',
  },
  ETCD_SPLIT_BRAIN: {
    summary: 'The hosts of cluster.yml have members of more than one etcd (split brain).',
    meaning:
      'A recovered cluster has a new etcd. Hosts that were lost at that time still have the previous one. Nothing was changed.',
    remedy:
      'Find the recovered side: run `hyperkube etcd status` with only one side in cluster.yml. Run `hyperkube reset --limit HOST,…` for the hosts of the other side, then `hyperkube up`.',
  },
  ETCD_REFUSED: {
    summary: 'etcd refused a request.',
    meaning:
      'The message holds the reason. For example, a learner that has not caught up cannot be promoted.',
    remedy: 'Fix the reason in the message. For a learner, wait and run the same command again.',
  },
  ETCD_INVALID_RESPONSE: {
    summary: 'An etcd member returned an invalid response.',
    meaning: 'Another server responds, or this hyperkube release does not know the version of etcd.',
    remedy: 'Run `curl` with the address from the message and check the response.',
  },
  ETCD_MEMBERS_UNKNOWN: {
    summary: 'The etcd members cannot be determined, so none is added or removed.',
    meaning: 'Without a quorum each member knows only its own last state.',
    remedy: 'Bring members back until more than half are healthy, then run the same command again.',
  },
  ETCD_MEMBERS_CHANGED: {
    summary: 'The etcd members have changed during the run.',
    meaning: 'Another operator changed them, or another etcd responds. Nothing was changed.',
    remedy: 'Run the same command again; it reads the members again.',
  },
  ETCD_QUORUM: {
    summary: 'The change would leave etcd without enough healthy members.',
    meaning: 'Nothing was changed. Without a majority etcd accepts no writes, and the API stops.',
    remedy:
      'Bring the members from the message back. Remove lost ones one at a time with `hyperkube node remove HOST`.',
  },
  ETCD_NO_RAFT_SNAPSHOT: {
    summary: 'etcd members saved no raft snapshot before the upgrade to etcd 3.7.',
    meaning:
      'etcd 3.7 cannot read entries of the raft log that etcd 3.5 wrote, so it might not start. Nothing was changed.',
    remedy:
      'A large `snapshot-count` in the args of etcd prevents raft snapshots. Remove it from cluster.yml and run `hyperkube up`. Then upgrade again.',
  },
  ETCD_LEARNER: {
    summary: 'An etcd member is still a learner and does not vote.',
    meaning: 'It does not count for the quorum, and no other member can join before it is promoted.',
    remedy:
      'Run the command that added it again; it resumes. If its host is lost, run `hyperkube node remove HOST`.',
  },
  ETCD_LEARNER_STUCK: {
    summary: 'A new etcd member was not promoted in time and was removed again.',
    meaning:
      'The other members are unchanged. A learner is promoted once it has caught up. Its disk or network is too slow, or another member was unreachable.',
    remedy:
      'Check `journalctl -u etcd` on the host and `hyperkube etcd status`. Then run `hyperkube up` again.',
  },
  ETCD_NO_QUORUM: {
    summary: 'Too few etcd members are healthy: etcd accepts no writes, and the API is unavailable.',
    meaning: 'Pods keep running. Restarts do not help; members must come back.',
    remedy:
      'Bring hosts back until more than half of the members are healthy. If they are lost, run `hyperkube etcd recover`.',
    symptoms: ['etcd'],
  },
  ETCD_MEMBER_UNREACHABLE: {
    summary: 'An etcd member is unhealthy, or its host is unreachable.',
    meaning: 'The other members continue while more than half of all members are healthy.',
    remedy: 'Run `systemctl status etcd` and `journalctl -u etcd -n 50` on its host.',
    symptoms: ['etcd'],
  },
  ETCD_MEMBER_UNREADY: {
    summary: 'An etcd member runs, but is not ready.',
    meaning: 'Usually it cannot reach enough other members. A restart does not help.',
    remedy: 'Check the members that it cannot reach, and port 2380 between the hosts.',
    symptoms: ['etcd'],
  },
  ETCD_MEMBER_UNSTARTED: {
    summary: 'A member was added to etcd, but has never started.',
    meaning: 'The run that added it was interrupted. A voter that never started counts as unhealthy.',
    remedy:
      'Run the command that added it again. To remove it, run `etcdctl member list` and `etcdctl member remove ID`.',
  },
  ETCD_ALARM_SPACE: {
    summary: 'An etcd member has reached its space quota, and etcd accepts no more writes.',
    meaning: 'The alarm stays active until it is disarmed.',
    remedy:
      'Find what fills the database: `kubectl get --raw /metrics | grep -E "apiserver_(resource|storage)_objects"`. Delete these objects. Then run `etcdctl compact REVISION`, `etcdctl defrag` on each member, and `etcdctl alarm disarm`. The revision is in the output of `etcdctl endpoint status -w json`. As root on a member, etcdctl is `/opt/hyperkube/etcd-VERSION/etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/hyperkube/etcd/ca.crt --cert=/etc/hyperkube/etcd/client.crt --key=/etc/hyperkube/etcd/client.key`.',
    symptoms: ['etcd'],
  },
  ETCD_ALARM_CORRUPT: {
    summary: 'The data of an etcd member differs from that of the other members.',
    meaning:
      'Its data is damaged. etcd accepts no writes while the alarm is active. The data of the other members is not affected.',
    remedy:
      'Check the disk and memory of its host first. Then run `hyperkube etcd rejoin HOST`, which starts the member with empty data and ends the alarm. If etcd does not know which member is damaged, restore a snapshot from before the damage.',
    symptoms: ['etcd'],
  },
  ETCD_SPACE: {
    summary: 'An etcd member has used 80% of its space quota.',
    meaning: 'At 100% etcd accepts no more writes.',
    remedy:
      'Find what fills it: `kubectl get --raw /metrics | grep -E "apiserver_(resource|storage)_objects"`.',
    symptoms: ['etcd'],
  },
  ETCD_BEHIND: {
    summary: 'An etcd member is far behind the other members.',
    meaning: 'Its disk or network is too slow. It serves no requests until it has caught up.',
    remedy: 'Check its disk: `journalctl -u etcd | grep "slow fdatasync"` on its host.',
    symptoms: ['etcd'],
  },
  ETCD_VERSIONS: {
    summary: 'The etcd members have different versions.',
    meaning:
      'This is normal during an upgrade. etcd uses the features of the oldest version until all are upgraded.',
    remedy: 'Run the same upgrade command again until it has finished.',
  },
  ETCD_RESTORE_UNFINISHED: {
    summary: 'A restore of etcd was started and has not finished.',
    meaning:
      'Some members may have data of the snapshot and others not, so they must not start together. Nothing was changed. Pods keep running.',
    remedy:
      'Run the same `hyperkube etcd snapshot restore` again; it resumes. With another snapshot it restores every member again.',
  },
  ETCD_RESTORE_RUNNING: {
    summary: 'etcd runs on a host whose data is being replaced.',
    meaning: 'A person or a reboot started it again. The data of this host was not replaced.',
    remedy: 'Run the same `hyperkube etcd snapshot restore` again; it stops etcd first.',
  },
  ETCD_RESTORE_NOT_UPLOADED: {
    summary: 'The uploaded data for a restore is missing on a host, or does not match its digest.',
    meaning: 'The data of this host was not replaced. The directory was emptied, or the disk is failing.',
    remedy:
      'Run the same `hyperkube etcd snapshot restore` again; it uploads the data again. `dmesg` on the host shows disk errors.',
  },
  ETCD_RESTORE_VERSION: {
    summary: 'The snapshot has another Kubernetes minor version than cluster.yml.',
    meaning: 'An older Kubernetes may not read the data of a newer one. Nothing was changed.',
    remedy:
      '`hyperkube etcd snapshot unpack FILE` extracts the matching cluster.yml and cluster.lock. Or set `spec.kubernetes` and run `hyperkube lock`. `--ignore ETCD_RESTORE_VERSION` continues anyway.',
  },
  ETCD_RESTORE_KEYS: {
    summary: 'Secrets in the snapshot are encrypted with a key that the current identity does not have.',
    meaning:
      'The key was rotated after the snapshot. The restored Secrets could not be decrypted. Nothing was changed.',
    remedy:
      'Extract the identity with `hyperkube etcd snapshot unpack FILE --key KEY --to DIR`, then restore with `-f DIR/cluster.yml`. Or restore a newer snapshot.',
  },
  ETCD_RESTORE_LEFT_OUT: {
    summary: 'Some etcd members are not in cluster.yml, and a restore would not change them.',
    meaning: 'Their API servers and controllers would continue with the previous data. Nothing was changed.',
    remedy:
      'Remove them first with `hyperkube up`. If they are off for good, use `--ignore ETCD_RESTORE_LEFT_OUT`.',
  },
  ETCD_RESTORE_SPACE: {
    summary: 'A member has too little disk space for the restored data.',
    meaning:
      'The restore keeps the previous data, so it needs space for the snapshot and for the new data. Nothing was changed.',
    remedy: 'Free space on the host. `du -sh /var/lib/etcd/*` shows old data of earlier restores.',
  },
  ETCD_RECOVER_QUORUM: {
    summary: 'etcd has a quorum, so a recovery is not needed.',
    meaning: 'A recovery discards the data that only lost members have.',
    remedy:
      'Remove lost members with `hyperkube node remove HOST`. To return to an earlier state, run `hyperkube etcd snapshot restore NAME`.',
  },
  ETCD_RECOVER_NOTHING: {
    summary: 'No etcd member is reachable, and no snapshot was found.',
    remedy:
      'Bring back any host that was a member. Or restore a snapshot from another place with `hyperkube etcd snapshot restore FILE`.',
  },
  ETCD_REJOIN_HEALTHY: {
    summary: 'The etcd member to rejoin is healthy.',
    meaning: 'hyperkube does not discard a healthy member, because etcd would temporarily lose a vote.',
    remedy:
      '`hyperkube etcd status` shows the health of each member. To remove a host, run `hyperkube node remove HOST`.',
  },
  ETCD_REJOIN_NO_QUORUM: {
    summary: 'A member cannot rejoin etcd because the other members have no quorum.',
    remedy:
      '`hyperkube etcd recover` lists the data on hosts and the snapshots, and recovers from your choice.',
  },
  ETCD_REJOIN_UNREACHABLE: {
    summary: 'The host that should rejoin etcd is unreachable.',
    remedy:
      'Bring it back first. If it is lost, run `hyperkube node remove HOST`, or replace it with `hyperkube node replace`.',
  },
}

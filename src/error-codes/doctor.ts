import type { ErrorCodeEntries } from './entry.ts'

export const doctorCodes: ErrorCodeEntries = {
  HOST_UNREACHABLE: {
    summary: 'A host is unreachable over ssh.',
    meaning:
      'It is off, or the network fails. Pods of a worker start elsewhere after five minutes. etcd and the API continue while more than half of the control planes run.',
    remedy:
      'Start it, or fix the network; the host recovers without further action. If it is lost, run `hyperkube node remove HOST`.',
    symptoms: ['no-way', 'node-not-ready'],
  },
  HOST_CUT_OFF: {
    summary: 'A host is reachable for you, but cannot reach the other hosts of the cluster.',
    meaning:
      'A cable, a switch or a firewall separates them. Its pods run, but are unreachable. Agents restart nothing for this.',
    remedy:
      'Fix the network between the hosts; everything else recovers. On the host `ping` the address of another host.',
    symptoms: ['node-not-ready', 'no-service'],
  },
  AGENT_UNREACHABLE: {
    summary: 'A host is reachable, but its agent is not.',
    meaning:
      'Pods and components keep running, but are not healed. systemd restarts an agent that exits or hangs.',
    remedy:
      'Wait half a minute. Then run `systemctl restart hyperkube-agent` and `journalctl -u hyperkube-agent -n 50` on the host. If there is no agent, run `hyperkube up`.',
    symptoms: ['healing'],
  },
  AGENT_NO_HEALTH: {
    summary: 'The agent of a host is too old to report health. This is a warning.',
    remedy: '`hyperkube up` installs this release on the hosts.',
    symptoms: ['healing'],
  },
  ETCD_QUORUM_LOST: {
    summary: 'Too few etcd members are healthy: etcd accepts no writes, and the API is unavailable.',
    meaning:
      'Pods keep running, and no acknowledged write is lost. Agents restart nothing for this; members must come back.',
    remedy: 'Bring back the members that the evidence names. If they are lost, run `hyperkube etcd recover`.',
    symptoms: ['etcd', 'no-api'],
  },
  API_DOWN: {
    summary: 'No API server is ready.',
    meaning:
      'Pods and services keep running, but nothing can be changed or read, and failed pods are not replaced.',
    remedy:
      '`hyperkube doctor` shows the cause for each server. `hyperkube logs kube-apiserver --since 10m` shows their logs.',
    symptoms: ['no-api', 'no-pods'],
  },
  NODE_NOT_READY: {
    summary: 'A node is NotReady.',
    meaning:
      'Its kubelet reported a problem or stopped reporting. Its pods start elsewhere after five minutes.',
    remedy:
      '`hyperkube doctor` shows the cause if it is known. Otherwise check `hyperkube logs kubelet --limit HOST`.',
    symptoms: ['node-not-ready'],
  },
  SERVICE_DRIFT: {
    summary: 'A resource of a component differs from the applied plan.',
    meaning:
      'A program, a file or a unit is missing, changed or disabled. Running services are not touched; the agent repairs what it can.',
    remedy:
      '`hyperkube up --limit HOST` repairs the rest. Find out what changes it, usually configuration management.',
    symptoms: ['healing'],
  },
}

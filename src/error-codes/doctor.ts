import type { Entries } from './entry.ts'

export const doctor: Entries = {
  HOST_AWAY: {
    summary: 'A host does not answer by ssh.',
    meaning:
      'It is off, or the way to it is cut. A worker’s pods start elsewhere after five minutes; etcd and the API go on while more than half of the control planes are there.',
    remedy:
      'Switch it on, or mend the way to it: it comes back by itself. If it is lost for good: `hyperkube node remove HOST`.',
    symptoms: ['no-way', 'node-not-ready'],
  },
  HOST_CUT_OFF: {
    summary: 'A host answers you, and does not reach the other hosts of the cluster.',
    meaning:
      'Something is between them: a cable, a switch, a firewall. Its pods run on and nobody reaches them. Nothing is restarted for that.',
    remedy:
      'Mend the network between the hosts; all else mends by itself. From the host: `ping` the address of another one.',
    symptoms: ['node-not-ready', 'no-service'],
  },
  AGENT_SILENT: {
    summary: 'A host answers, and its agent does not.',
    meaning:
      'Pods and components go on as they are, and nobody heals them. systemd starts an agent anew that has ended, and one that gives no sign of life.',
    remedy:
      'Wait half a minute; then on the host `systemctl restart hyperkube-agent` and `journalctl -u hyperkube-agent -n 50`. Where there is none: `hyperkube up`.',
    symptoms: ['healing'],
  },
  AGENT_NO_HEALTH: {
    summary: 'The agent of a host is too old to say how its host is. A warning.',
    remedy: '`hyperkube up` brings this release to the hosts.',
    symptoms: ['healing'],
  },
  ETCD_QUORUM_LOST: {
    summary: 'Too few members of etcd are well: nothing can be written, and the API stands still.',
    meaning:
      'Pods go on running as they are, and nothing that was acknowledged is lost. Agents restart nothing for it: only members that come back help.',
    remedy:
      'Bring back the members that the evidence names. Only if they are lost for good: `hyperkube etcd recover`.',
    symptoms: ['etcd', 'no-api'],
  },
  API_DOWN: {
    summary: 'No API server is ready.',
    meaning:
      'Pods and services go on as they are; nothing can be changed or seen, and what fails is not replaced.',
    remedy:
      '`hyperkube doctor` names why for each server; `hyperkube logs kube-apiserver --since 10m` has what they say.',
    symptoms: ['no-api', 'no-pods'],
  },
  NODE_NOT_READY: {
    summary: 'The API does not take a node for ready.',
    meaning:
      'Its kubelet has said so, or has not been heard of. After five minutes its pods start elsewhere.',
    remedy:
      '`hyperkube doctor` names the cause first where it knows one; otherwise `hyperkube logs kubelet --limit HOST`.',
    symptoms: ['node-not-ready'],
  },
  SERVICE_DRIFT: {
    summary: 'What a component is made of is not as hyperkube put it there.',
    meaning:
      'A program, a file or a unit is gone, changed or switched off. What runs is left alone; the agent puts back what it can.',
    remedy:
      '`hyperkube up --limit HOST` puts back the rest. Find out who changes it: configuration management, mostly.',
    symptoms: ['healing'],
  },
}

import type { Entries } from './entry.ts'

export const spec: Entries = {
  SPEC_NOT_READ: {
    summary: 'cluster.yml does not exist, or could not be read.',
    remedy:
      'Go to its directory, or name it with `-f FILE`. `ls -l FILE` shows who may read it. `hyperkube init` writes a first one.',
    symptoms: ['not-started'],
  },
  SPEC_NOT_WRITTEN: {
    summary: '`hyperkube init` could not write cluster.yml.',
    meaning:
      'A file that is there is never overwritten: it may be the only description of a cluster that runs.',
    remedy:
      'Write another one with `-f FILE`; if a directory is missing, `mkdir -p` it. Then the same command again.',
  },
  SPEC_NOT_VALID: {
    summary: 'The command needs a cluster.yml without errors, and this one has some.',
    remedy: '`hyperkube validate` lists all of them at once, each with its line.',
  },
  SPEC_EMPTY: {
    summary: 'There is nothing in the file.',
    meaning: 'An interrupted copy or a full disk leaves such files.',
    remedy:
      '`git checkout -- cluster.yml` brings the committed one back; `hyperkube init` writes a first one.',
  },
  SPEC_TOO_LARGE: {
    summary: 'The file is larger than 1 MB, more than any cluster.yml needs.',
    remedy: 'Look whether `-f` names the right file.',
  },
  SPEC_NOT_YAML: {
    summary: 'The file is not YAML.',
    meaning: 'Most often a tab, a wrong indentation, a missing quote, or a key that stands there twice.',
    remedy: 'Look at the line and column of the message, and at the line above. Then `hyperkube validate`.',
  },
  SPEC_SECOND_DOCUMENT: {
    summary: 'The file holds more than one YAML document.',
    meaning: 'One file is one cluster. hyperkube does not guess which of them is meant.',
    remedy: 'Put the second one into a file of its own, or take out the line `---`.',
  },
  SPEC_TOO_MANY_ALIASES: {
    summary: 'The file repeats itself too often through YAML aliases.',
    meaning: 'A small file with nested aliases can grow beyond every memory; so there is a limit.',
    remedy: 'Write out what `*name` stands for.',
  },
  SPEC_MISSING: {
    summary: 'A setting that has no default is missing.',
    remedy: 'Add it at the place of the message. [Every setting](cluster.md) says what it takes.',
  },
  SPEC_WRONG_TYPE: {
    summary: 'A value is of the wrong kind: text where a list belongs, a number where text does.',
    remedy:
      'The message says what must be there. Quote what YAML would take for a number: `"0644"`, `"1.30"`.',
  },
  SPEC_WRONG_VALUE: {
    summary: 'A value is of the right kind, but not one that fits.',
    remedy: 'The message says what fits, and guesses what you meant if it can.',
  },
  SPEC_UNKNOWN_KEY: {
    summary: 'There is no such setting at this place.',
    meaning:
      'It is refused and not passed over, because a mistyped setting would otherwise silently do nothing.',
    remedy:
      'Mend its spelling or its indentation. `hyperkube schema` gives editors what they need to complete settings.',
  },
  SPEC_HOST_TWICE: {
    summary: 'Two hosts have the same name, address, internal address or node name.',
    meaning: 'Two machines under one name would overwrite each other’s node and certificates.',
    remedy: 'Most often a copied block: give the second host its own values.',
  },
  SPEC_NO_CONTROL_PLANE: {
    summary: 'No host has the role control-plane.',
    remedy: 'Give at least one Linux host `roles: [control-plane]`.',
  },
  SPEC_ETCD_TOO_MANY: {
    summary: 'More than 7 hosts would be members of etcd.',
    meaning: 'Every write waits for a majority: beyond 7, members make etcd slower and not safer.',
    remedy: 'Give the role etcd to 3 or 5 hosts; the other control planes then run without a member.',
  },
  SPEC_ETCD_EVEN: {
    summary: 'etcd would have an even number of members. A warning.',
    meaning:
      'Four members bear the loss of one, as three do, and there is one more machine that can be lost.',
    remedy: 'Use 1, 3 or 5 members.',
  },
  SPEC_WINDOWS_ROLE: {
    summary: 'A Windows host has a role other than worker.',
    meaning: 'The programs of the control plane do not exist for Windows.',
    remedy: 'Set `roles: [worker]` for it.',
  },
  SPEC_WINDOWS_NETWORK: {
    summary: 'flannel is set up in a way that Windows hosts cannot join.',
    meaning: 'Windows accepts VXLAN with VNI 4096 on port 4789 only, and all hosts of a cluster must agree.',
    remedy:
      'Take `vni`, `port` and `backend` out of `spec.network.flannel`: the defaults fit. On a cluster that runs, this interrupts the pod network.',
  },
  SPEC_LOCAL_NOT_ALONE: {
    summary: 'A host is marked `local`, and there are others.',
    meaning: 'A local host is this machine, without ssh, as a whole cluster.',
    remedy:
      'Take out `local: true` and give the host an address that the others reach, or remove the other hosts.',
  },
  SPEC_ADDRESS_TWICE: {
    summary: 'A host has both `internalAddress` and `interface`.',
    meaning: 'Both say which address the host has inside the cluster, and they could disagree.',
    remedy: 'Keep one of them.',
  },
  SPEC_DUAL_STACK: {
    summary: 'Two networks are given for pods or services.',
    meaning: 'Clusters with IPv4 and IPv6 side by side are not supported yet.',
    remedy: 'Give one IPv4 network.',
  },
  SPEC_IPV6: {
    summary: 'The network of pods or services is an IPv6 one.',
    meaning: 'Clusters with IPv6 are not supported yet.',
    remedy: 'Give an IPv4 network, such as `10.244.0.0/16`.',
  },
  SPEC_NOT_A_NETWORK: {
    summary: 'What should be a network is an address inside one.',
    meaning: '`10.244.1.0/16` is such a case: with /16 the network begins at `10.244.0.0`.',
    remedy: 'Write the first address of the network, or mend the number behind the slash.',
  },
  SPEC_OVERLAP: {
    summary: 'Two networks overlap, or a host’s address lies in the network of pods or services.',
    meaning: 'Packets for one of them would go to the other, and the host may cut itself off.',
    remedy:
      'Choose another `spec.network.pods` or `spec.network.services`, apart from the network of the hosts.',
  },
  SPEC_PODS_TOO_SMALL: {
    summary: 'The network of pods has no room for a part for each host.',
    meaning: 'The last hosts would never become ready: there is no part left to give them.',
    remedy: 'Take a larger network (a smaller number behind the slash), or a larger `nodePrefix`.',
  },
  SPEC_NODE_TOO_SMALL: {
    summary: 'A node’s part of the pod network has fewer addresses than the node may have pods.',
    meaning: 'Pods beyond that number would wait for an address for ever.',
    remedy: 'Lower `maxPods`, or lower `spec.network.nodePrefix`.',
  },

  RKE1_NOT_A_MAP: {
    summary: 'The file given to `--from-rke` is not a cluster.yml of RKE1.',
    remedy: 'Look whether it is the file that `rke up` was run with.',
  },
  RKE1_NO_NODES: {
    summary: 'The file of RKE1 has no nodes.',
    remedy: 'Look whether it is the right file; parts may stand in another one.',
  },
  RKE1_NETWORK_POLICY: {
    summary: 'The old cluster enforces NetworkPolicy, and the new one would not. A warning.',
    meaning: 'RKE1 runs canal unless told otherwise; flannel carries packets, and enforces no policy.',
    remedy:
      'If `kubectl get networkpolicy -A` on the old cluster shows any that you rely on, set `spec.network.plugin: none` and bring a plugin of your own.',
  },
  SPEC_PROXY_PASSWORD: {
    summary: 'The address of the proxy holds a user or a password.',
    meaning: 'It becomes part of a service’s environment, which every user of a host can read.',
    remedy: 'Let the hosts through the proxy by their addresses, and write the address alone.',
  },
  SPEC_SNAPSHOTS_NOT_TAKEN: {
    summary: 'cluster.yml has a schedule of snapshots, and nobody to follow it.',
    meaning:
      'A controller has members of etcd take them, and it is off: only when one is needed would that show.',
    remedy:
      'Have `snapshot-schedule` on in `spec.manager.controllers`, or take `spec.etcd.snapshots` out. `hyperkube etcd snapshot save` takes one at once.',
  },
  SPEC_ADDON_NAME: {
    summary: 'An addon of yours has the name of another one.',
    meaning:
      'By its name hyperkube knows what an addon has put into the cluster, and what to take away again.',
    remedy:
      'Give it another name. Those that come with hyperkube are set up by `dns`, `metrics`, `ingress` and `storage`.',
  },
  SPEC_DNS_LOOP: {
    summary: 'CoreDNS would ask itself for names that it does not know.',
    meaning: 'In a pod, a loopback address is the pod’s own. CoreDNS notices the loop, and ends.',
    remedy: 'Name a server outside the cluster in `spec.dns.forward`.',
  },
  SPEC_INGRESS_PORT: {
    summary: 'Two programs would listen on the same port of a node.',
    remedy: 'Give `spec.ingress` other ports, or `spec.api`.',
  },
  SPEC_STORAGE_PATH: {
    summary: 'Volumes would be in a directory that is emptied without asking.',
    meaning: 'hyperkube removes its own directories as a whole, and a system empties some at every boot.',
    remedy: 'Leave out `spec.storage.path`, or name a directory that holds volumes alone.',
  },
}

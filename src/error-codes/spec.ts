import type { ErrorCodeEntries } from './entry.ts'

export const specCodes: ErrorCodeEntries = {
  SPEC_NOT_READ: {
    summary: 'cluster.yml does not exist or cannot be read.',
    remedy:
      'Change to its directory, or pass its path with `-f FILE`. `ls -l FILE` shows the permissions. `hyperkube init` creates a new one.',
    symptoms: ['not-started'],
  },
  SPEC_NOT_WRITTEN: {
    summary: '`hyperkube init` could not write cluster.yml.',
    meaning:
      'hyperkube never overwrites an existing file, because it may be the only description of a running cluster.',
    remedy:
      'Choose another path with `-f FILE`. Create a missing directory with `mkdir -p DIRECTORY`. Then run the same command again.',
  },
  SPEC_NOT_VALID: {
    summary: 'cluster.yml has errors, and the command needs a valid one.',
    remedy: '`hyperkube validate` lists all errors at once, each with its line.',
  },
  SPEC_EMPTY: {
    summary: 'cluster.yml is empty.',
    meaning: 'An interrupted copy or a full disk can cause this.',
    remedy: '`git checkout -- cluster.yml` restores the committed file. `hyperkube init` creates a new one.',
  },
  SPEC_TOO_LARGE: {
    summary: 'The file is larger than 1 MB, or has more values than 6,000 hosts need.',
    remedy: 'Check that `-f` names the right file.',
  },
  SPEC_NOT_YAML: {
    summary: 'The file is not valid YAML.',
    meaning: 'The usual causes are a tab, wrong indentation, a missing quote or a duplicate key.',
    remedy: 'Check the line and column in the message, and the line above. Then run `hyperkube validate`.',
  },
  SPEC_SECOND_DOCUMENT: {
    summary: 'The file contains more than one YAML document.',
    meaning: 'One file describes one cluster, and hyperkube does not guess which document is meant.',
    remedy: 'Move the second document to its own file, or delete the line `---`.',
  },
  SPEC_TOO_MANY_ALIASES: {
    summary: 'The file uses too many YAML aliases.',
    meaning: 'Nested aliases in a small file can exhaust the memory, so their number is limited.',
    remedy: 'Replace `*name` with the value that it refers to.',
  },
  SPEC_MISSING: {
    summary: 'A required setting is missing.',
    remedy: 'Add it at the path in the message. [Every setting](cluster.md) describes the values.',
  },
  SPEC_WRONG_TYPE: {
    summary: 'A value has the wrong type, for example text instead of a list.',
    remedy:
      'The message says which type is required. Quote text that YAML reads as a number: `"0644"`, `"1.30"`.',
  },
  SPEC_WRONG_VALUE: {
    summary: 'A value has the right type, but is not allowed.',
    remedy: 'The message lists the allowed values and suggests one if possible.',
  },
  SPEC_UNKNOWN_KEY: {
    summary: 'cluster.yml contains an unknown setting.',
    meaning: 'hyperkube refuses unknown settings, because a misspelled one would silently have no effect.',
    remedy:
      'Fix its spelling or indentation. `hyperkube schema` prints a schema with which editors complete settings.',
  },
  SPEC_HOST_DUPLICATE: {
    summary: 'Two hosts have the same name, address, internal address or node name.',
    meaning: 'Two machines with one name would overwrite the node and the certificates of each other.',
    remedy: 'The usual cause is a copied block. Give the second host its own values.',
  },
  SPEC_NO_CONTROL_PLANE: {
    summary: 'No host has the role control-plane.',
    remedy: 'Give at least one Linux host `roles: [control-plane]`.',
  },
  SPEC_ETCD_TOO_MANY: {
    summary: 'etcd would have more than 7 members.',
    meaning: 'Every write waits for a majority. Beyond 7 members etcd becomes slower, but not safer.',
    remedy: 'Give the role etcd to 3 or 5 hosts. The other control planes then run without a member.',
  },
  SPEC_PROFILE_WEAKENED: {
    summary: 'A setting is weaker than `spec.security.profile: cis` requires. This is a warning.',
    meaning: 'The setting applies, and the cluster then fails a check of the CIS benchmark.',
    remedy: 'Remove the setting, so that the value of the profile applies.',
  },
  SPEC_ETCD_EVEN: {
    summary: 'etcd would have an even number of members. This is a warning.',
    meaning:
      'Four members tolerate the loss of one, as three do, but there is one more machine that can fail.',
    remedy: 'Use 1, 3 or 5 members.',
  },
  SPEC_WINDOWS_ROLE: {
    summary: 'A Windows host has a role other than worker.',
    meaning: 'Control plane programs do not exist for Windows.',
    remedy: 'Set `roles: [worker]` for the host.',
  },
  SPEC_WINDOWS_KUBE_PROXY: {
    summary: 'kube-proxy of a Windows host has no HNS network. This is a warning.',
    meaning:
      'With `network.plugin: none` hyperkube does not know the network that your plugin creates in HNS.',
    remedy:
      'Set `winkernel.networkName` in `components.kubeProxy.config` of the host, and `sourceVip` for an overlay network.',
  },
  SPEC_WINDOWS_NETWORK: {
    summary: 'Windows hosts cannot use these flannel settings.',
    meaning:
      'Windows supports only VXLAN with VNI 4096 on port 4789, and all hosts of a cluster must use the same settings.',
    remedy:
      'Remove `vni`, `port` and `backend` from `spec.network.flannel`; the defaults are correct. In a running cluster this change interrupts the pod network.',
  },
  SPEC_LOCAL_NOT_ALONE: {
    summary: 'A host is marked `local`, but cluster.yml lists other hosts too.',
    meaning: 'A local host is this machine, without ssh, as a complete cluster.',
    remedy: 'Remove `local: true` and set an address that the other hosts reach, or remove the other hosts.',
  },
  SPEC_ADDRESS_DUPLICATE: {
    summary: 'A host has both `internalAddress` and `interface`.',
    meaning: 'Both define the address of the host inside the cluster, and they could disagree.',
    remedy: 'Keep one of them.',
  },
  SPEC_NO_NETWORK_POLICY: {
    summary: 'No program enforces NetworkPolicy in this cluster. This is a warning.',
    meaning: 'NetworkPolicy objects can be created, but have no effect. flannel alone enforces none.',
    remedy: 'Remove `spec.network.policy`, or set it to `kube-router`.',
  },
  SPEC_KUBE_PROXY_NONE: {
    summary: '`spec.network.kubeProxy` is `none`, but nothing replaces kube-proxy.',
    meaning:
      'Without kube-proxy no Service has an effect, unless the network plugin replaces it. flannel does not, and Windows hosts need kube-proxy.',
    remedy:
      'Remove `spec.network.kubeProxy`. Or set `spec.network.plugin: none` and install a plugin that replaces kube-proxy, such as Cilium.',
  },
  SPEC_NETWORK_ADDON: {
    summary: '`spec.network.addon` names no addon that can install the pod network.',
    meaning:
      'It must be the name of an enabled addon in `spec.addons`, and needs `spec.network.plugin: none`.',
    remedy: 'Correct the name, or remove `spec.network.addon`.',
  },
  SPEC_DUAL_STACK: {
    summary: 'The settings of a dual-stack cluster do not fit together.',
    meaning:
      'Pods and services need an IPv4 and an IPv6 network each, in the same order. Nodes need an IPv4 address for other hosts. Windows hosts support only IPv4.',
    remedy:
      'Fix the value from the message. For a cluster with IPv4 only, set one network each for `spec.network.pods` and `spec.network.services`.',
  },
  SPEC_IPV6: {
    summary: 'Pods or services have no IPv4 network, or a host has no IPv4 address.',
    meaning: 'Clusters without IPv4 are not supported. Hosts reach each other at IPv4 addresses only.',
    remedy:
      'Add an IPv4 network, such as `10.244.0.0/16`. The first network of the list decides which family is primary. For a host set `internalAddress` to its IPv4 address; `address`, for ssh, may stay an IPv6 address.',
  },
  SPEC_NOT_A_NETWORK: {
    summary: 'The value is a host address, not a network address.',
    meaning: 'For example, the network of `10.244.1.0/16` begins at `10.244.0.0`.',
    remedy: 'Set the first address of the network, or fix the prefix length after the slash.',
  },
  SPEC_OVERLAP: {
    summary:
      'Two networks overlap, or a host address is inside the network of pods or services or the pool of load balancers.',
    meaning: 'Packets would be routed to the wrong network, and the host could become unreachable.',
    remedy:
      'Choose another `spec.network.pods` or `spec.network.services` that does not overlap the network of the hosts. `spec.loadBalancer.addresses` must contain only addresses that nothing else uses.',
  },
  SPEC_VIRTUAL_IP: {
    summary: 'The virtual IP of the API is the address of a host.',
    meaning: 'The virtual IP moves between control planes, so no machine may have it as its own address.',
    remedy: 'Set `spec.api.virtualIP` to an address in the subnet of the control planes that no machine has.',
  },
  SPEC_PODS_TOO_SMALL: {
    summary: 'The pod network is too small to give each host a subnet.',
    meaning: 'The last hosts would never become ready, because no subnet is left for them.',
    remedy: 'Use a larger network (a shorter prefix), or a larger `nodePrefix`.',
  },
  SPEC_NODE_TOO_SMALL: {
    summary: 'The pod subnet of a node has fewer addresses than the node may have pods.',
    meaning: 'Pods beyond that number would never get an address.',
    remedy: 'Lower `maxPods` or `spec.network.nodePrefix`.',
  },

  RKE1_NOT_A_MAP: {
    summary: 'The file of `--from-rke` is not an RKE1 cluster.yml.',
    remedy: 'Check that it is the file that `rke up` used.',
  },
  RKE1_NO_NODES: {
    summary: 'The RKE1 file has no nodes.',
    remedy: 'Check that it is the right file; the nodes may be in another one.',
  },
  RKE1_NETWORK_POLICY: {
    summary: 'The RKE1 cluster uses canal, which becomes flannel with kube-router. This is a warning.',
    meaning: 'kube-router enforces NetworkPolicy objects. Policies of Calico have no effect.',
    remedy:
      'List the policies of Calico in the old cluster with `kubectl get crd | grep projectcalico`. If you rely on any, set `spec.network.plugin: none` and install your own network plugin.',
  },
  SPEC_PROXY_PASSWORD: {
    summary: 'The address of the proxy contains a user or a password.',
    meaning: 'cluster.yml and plans contain no secrets.',
    remedy:
      'Set `username` and `password: { secret: proxy-password }` in `spec.proxy`. Then run `hyperkube secret set proxy-password`.',
  },
  SPEC_PROXY_LOGIN: {
    summary: 'The login of the proxy has a user name without a password, or the reverse.',
    remedy: 'Set both `username` and `password` in `spec.proxy`, or neither.',
  },
  SPEC_PROXY_WINDOWS: {
    summary: 'A cluster with Windows hosts has a proxy with a login.',
    meaning: 'Every user of a Windows host can read the environment of its services.',
    remedy: 'Allow the Windows hosts by address in the proxy, or install them from an air-gap bundle.',
  },
  SPEC_SKIP_VERIFY: {
    summary: 'hyperkube and hosts accept any certificate of a registry.',
    meaning:
      'An attacker on the network can read the password of the registry, and replace images that no digest pins.',
    remedy: 'Remove `skipVerify` and set `ca` to a file with the CA certificates of the registry.',
  },
  CA_FILE_INVALID: {
    summary: 'A CA file that cluster.yml names cannot be used.',
    meaning: 'The file is missing, is not in PEM format, or contains a private key.',
    remedy:
      '`openssl x509 -noout -subject -in FILE` shows its first certificate. Put the file beside cluster.yml.',
  },
  SPEC_WORKERS_VERSION: {
    summary: 'Workers cannot have the version in `spec.workers.kubernetes`.',
    meaning:
      'Kubelets must not be newer than the API servers, and at most three minor versions older. A bundle has the files of one version only.',
    remedy:
      'Remove the field, so that workers get `spec.kubernetes`. `hyperkube upgrade --to VERSION` sets and removes it as the upgrade needs.',
  },
  SPEC_SNAPSHOTS_NOT_TAKEN: {
    summary: 'cluster.yml has a snapshot schedule, but the controller that takes snapshots is disabled.',
    meaning: 'No snapshot would be taken, and the operator would notice it only when one is needed.',
    remedy:
      'Enable `snapshot-schedule` in `spec.manager.controllers`, or remove `spec.etcd.snapshots`. `hyperkube etcd snapshot save` takes a snapshot now.',
  },
  SPEC_ADDON_NAME: {
    summary: 'Two addons have the same name.',
    meaning: 'hyperkube uses the name to track and remove the objects of an addon.',
    remedy:
      'Rename your addon. The built-in addons are configured by `dns`, `metrics`, `ingress` and `storage`.',
  },
  SPEC_DNS_LOOP: {
    summary: 'CoreDNS would forward unknown names to itself.',
    meaning: 'A loopback address in a pod is the pod itself. CoreDNS detects the loop and exits.',
    remedy: 'Set a server outside the cluster in `spec.dns.forward`.',
  },
  SPEC_INGRESS_PORT: {
    summary: 'Two programs would listen on the same port of a node.',
    remedy: 'Change the ports of `spec.ingress` or `spec.api`.',
  },
  SPEC_LOAD_BALANCER_EMPTY: {
    summary: 'The address pool has no address that a Service can get.',
    meaning:
      'MetalLB skips IPv4 addresses that end with .0 or .255, because they are often broadcast addresses.',
    remedy: 'Add other addresses to `spec.loadBalancer.addresses`.',
  },
  SPEC_LOAD_BALANCER_FAMILY: {
    summary: 'The address pool has IPv4 or IPv6 addresses that Services of this cluster cannot have.',
    meaning: 'A Service only gets addresses of the families of `spec.network.services`.',
    remedy: 'Remove these addresses from `spec.loadBalancer.addresses`.',
  },
  SPEC_LOAD_BALANCER_PRIMARY: {
    summary: 'By default, Services of the type LoadBalancer get no address.',
    meaning:
      'A Service has one address, of the family that is first in `spec.network.services`. The address pool has none of this family. BGP announces only IPv4.',
    remedy:
      'Add addresses of this family to `spec.loadBalancer.addresses`. Or set `ipFamilies` to the other family in each Service of the type LoadBalancer.',
  },
  SPEC_STORAGE_PATH: {
    summary: 'Volumes would be in a directory that is deleted without confirmation.',
    meaning:
      'hyperkube deletes its own directories completely, and the operating system empties some directories at boot.',
    remedy: 'Remove `spec.storage.path`, or set a directory that contains only volumes.',
  },
}

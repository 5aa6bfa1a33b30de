import type { ErrorCodeEntries } from './entry.ts'

const reportRemedy = 'Nothing. The line is part of the report of `hyperkube adopt`.'

export const adoptionCodes: ErrorCodeEntries = {
  ADOPT_NOT_COMMITTED: {
    summary: 'A change would make the rollback of an adopted cluster impossible.',
    meaning:
      'Until `hyperkube adopt commit`, the hosts of an adopted cluster can return to the tool that created it. Upgrades, key rotations, provisional changes, restores, a reset and changes of the list of hosts are refused until then.',
    remedy: 'Run `hyperkube adopt commit` first, or return the hosts with `hyperkube adopt rollback`.',
  },
  ADOPT_HOSTS_PENDING: {
    summary: 'A host of an adopted cluster has not moved completely, or cannot be reached.',
    remedy: 'Make all hosts reachable and run `hyperkube up`. Then run `hyperkube adopt commit` again.',
  },
  ADOPT_COMMITTED: {
    summary:
      'The adoption was committed with `hyperkube adopt commit`, so a rollback to the previous tool is impossible.',
    meaning: 'An agent also reports this if an operator uses a cluster.identity from before the commit.',
    remedy: 'The hosts stay with hyperkube. `hyperkube reset` removes the cluster with its data.',
  },
  ADOPT_NO_HOST: {
    summary: '`hyperkube adopt rollback` could reach none of the hosts that should return.',
    meaning: 'Nothing was changed. The command line decides which hosts should return; by default all.',
    remedy: 'Check the network between this machine and the hosts, then run the same command again.',
  },
  ADOPT_MEMBER_LOST: {
    summary: '`hyperkube adopt rollback` cannot return a control plane, because another one is lost.',
    meaning:
      'While a host returns, its etcd member does not run. Of three members, one is lost, so etcd would lose its quorum. Until `hyperkube adopt commit`, `hyperkube node remove` is refused.',
    remedy:
      'Start the lost host and run the same command again. If it is lost for good, remove its etcd member and delete it from cluster.yml: [A control plane is lost](../how-to/adopt.md#a-control-plane-is-lost) has the commands.',
  },
  ADOPT_NOT_ADOPTED: {
    summary: 'The cluster was not adopted, so there is nothing to commit or to roll back.',
    remedy: 'Check that `-f` names the right cluster.yml.',
  },
  ADOPT_RUNTIME: {
    summary:
      'The container runtime of a host is not the expected one, or not the service with the usual name.',
    meaning:
      'On hosts of kubeadm, containers run on while hyperkube replaces containerd.service. On hosts of RKE1, it stops docker.service. It cannot do that for other runtimes or services.',
    remedy: 'Change the container runtime of the host first, or keep the cluster with its tool.',
  },
  ADOPT_CGROUP_DRIVER: {
    summary: 'A kubelet uses another cgroup driver than hyperkube.',
    meaning: 'The pods that run would be in cgroups that the new kubelet does not know.',
    remedy: 'Change the driver with kubeadm first. The message names the driver that hyperkube uses.',
  },
  ADOPT_CA_NAME: {
    summary: 'A CA of the cluster does not have a name that hyperkube knows.',
    meaning: 'Agents recognize the CA of a certificate by its name.',
    remedy: 'Keep the cluster with its tool.',
  },
  ADOPT_ETCD_VERSION: {
    summary: 'etcd would change its minor version before `adopt commit`.',
    meaning: 'A newer minor changes the stored data, so the host could not return to its previous etcd.',
    remedy: 'Change the version of etcd with the tool that manages the cluster first.',
  },
  ADOPT_ETCD_ADDRESS: {
    summary: 'An etcd member uses another address of its host than the node.',
    meaning:
      'hyperkube has one internal address of a host, at which etcd, the API server and the kubelet are reached. The other members would not reach etcd there.',
    remedy:
      'Set `--node-ip` of the kubelet to the address of etcd. Or change the peer URL of the member with `etcdctl member update`, and the static pod of etcd with it.',
  },
  ADOPT_ENDPOINT_POD: {
    summary: 'The API is reached through a static pod that would end.',
    meaning:
      'kube-vip, keepalived or a load balancer runs as a static pod on control planes, and kubelets of hyperkube start no static pods. kube-proxy stays, uses the same address of the API, and would not learn of changed Services any more.',
    remedy:
      'Run it as a service of the hosts or as a DaemonSet, or use an external load balancer. Keep the address.',
  },
  ADOPT_RKE1_NETWORK: {
    summary: 'The pod network or kube-proxy of an RKE1 cluster could not be continued.',
    meaning:
      'The network pods of RKE1 stay on moved hosts. A second flannel beside them was never tried. kube-proxy runs in Docker and must move.',
    remedy: 'Set `spec.network.plugin: none` and remove `spec.network.kubeProxy` in cluster.yml.',
  },
  ADOPT_RKE1_ETCD_HOST: {
    summary: 'A host of an RKE1 cluster would run only etcd.',
    meaning: 'RKE1 runs a kubelet and a kube-proxy there too. They would stay in Docker.',
    remedy: 'Give the host the role `worker` in cluster.yml.',
  },
  PREDECESSOR_MISSING: {
    summary:
      'A host of an adopted cluster does not have a file or container of the tool that created the cluster.',
    meaning: 'hyperkube needs it for a rollback. It stopped before it changed the component.',
    remedy: 'The host changed after `hyperkube adopt`. Compare it with the other hosts.',
  },
  PREDECESSOR_RUNS: {
    summary: 'A static pod or a container of the previous tool did not end.',
    meaning: 'The kubelet ends static pods, and Docker ends containers. One of them may be unhealthy.',
    remedy:
      'Check it on the host: `systemctl status kubelet` or `docker ps`. Then run the same command again.',
  },
  PREDECESSOR_NO_DOCKER: {
    summary:
      'Docker does not respond on a host of an adopted RKE1 cluster, or is not the service docker.service.',
    meaning:
      'The previous components are containers of Docker. They can neither stop nor start without it. They may run on after Docker has ended.',
    remedy: 'Start Docker on the host: `systemctl start docker`. Then run the same command again.',
  },
  PREDECESSOR_OTHER_CONTAINERS: {
    summary: 'Docker runs containers that belong neither to RKE1 nor to a pod.',
    meaning: 'Docker stops on a host that moves to hyperkube. These containers would stop with it.',
    remedy: 'Move them to another host, or stop them: `docker stop NAME`. Then run the same command again.',
  },
  PREDECESSOR_DATA_TWICE: {
    summary: 'A host has data of etcd both where the previous tool and where hyperkube keeps it.',
    meaning:
      'The component that would start next could continue with the older data. Nothing was moved or deleted.',
    remedy:
      'Compare both directories on the host, and move the old one away. Then run the same command again.',
  },
  ADOPT_HOST_NOT_READ: {
    summary: 'A host could not be read.',
    remedy:
      'Check that ssh works without a password, and that the user is root or may use sudo without a password.',
  },
  ADOPT_FILE_NOT_READ: {
    summary: 'A file that the adoption needs could not be read.',
    remedy: 'The message names the file. Check that it exists and that root can read it.',
  },
  ADOPT_API_NOT_READ: {
    summary: 'The Kubernetes API could not be read.',
    meaning: 'hyperkube uses the kubeconfig of an administrator, through ssh and a control plane.',
    remedy: 'Repair the API first. An adoption must start from a healthy cluster.',
  },
  ADOPT_ETCD_NOT_READ: {
    summary: 'No etcd member could be read.',
    remedy: 'Repair etcd first. An adoption must start from a healthy cluster.',
  },
  ADOPT_NO_CONTROL_PLANE: {
    summary: 'No host runs an API server of this tool.',
    remedy:
      'Name all control planes, and check that the flag names the right tool: `--from-kubeadm` or `--from-rke`.',
  },
  ADOPT_HOST_MISSING: {
    summary: 'The cluster has a node whose host was not read.',
    meaning: 'A cluster is adopted as a whole, because its CAs and networks are shared.',
    remedy: 'Name the host too, or remove the node from the cluster.',
  },
  ADOPT_HOST_FOREIGN: {
    summary: 'A host belongs to no node of the cluster, or trusts another CA.',
    remedy: 'Leave the host out, or correct its address.',
  },
  ADOPT_NAMES_SWAPPED: {
    summary: 'The node name of a host belongs to another machine.',
    meaning:
      'Addresses or host names were swapped. An adoption would give a machine the identity of another one.',
    remedy: 'Compare `/etc/machine-id` of the hosts with `kubectl get nodes -o wide`, and correct the names.',
  },
  ADOPT_NODE_ADDRESS: {
    summary: 'A node has an address that its host does not have.',
    meaning:
      'The host is behind NAT. hyperkube binds components to the address of the node, and they would not start.',
    remedy:
      'Give the node the address of a network interface: `internal_address` in the cluster.yml of RKE1, or `--node-ip` of the kubelet.',
  },
  ADOPT_HOST_DIRTY: {
    summary: 'A host also has parts of another cluster or tool.',
    meaning:
      'hyperkube cannot know which of them the cluster uses. Other containers of Docker would end on a host of RKE1.',
    remedy: 'Remove what does not belong to the cluster, then run the same command again.',
  },
  ADOPT_WINDOWS: {
    summary: 'The cluster has Windows nodes.',
    meaning: 'Only Linux hosts are read. Windows workers can join a cluster of hyperkube afterwards.',
    remedy: 'Drain the Windows nodes and remove them from the cluster first.',
  },
  ADOPT_NODE_NOT_READY: {
    summary: 'A node is not Ready.',
    remedy: 'Repair or remove the node first. An adoption must start from a healthy cluster.',
  },
  ADOPT_CLOUD_PROVIDER: {
    summary: 'The cluster uses a cloud provider.',
    meaning: 'Nodes get their identity and addresses from the cloud. Such an adoption was never tried.',
    remedy: 'Create a new cluster with `spec.cloudProvider: external`, and move the workloads.',
  },
  ADOPT_CUSTOM_PATH: {
    summary: 'A component uses another file or directory than the default of its tool.',
    meaning: 'hyperkube would start with other data or keys than those of the cluster.',
    remedy: 'Move it to the default path with the tool that manages the cluster.',
  },
  ADOPT_VERSION: {
    summary: 'hyperkube does not know the Kubernetes version of the cluster.',
    remedy:
      'Upgrade an older cluster with its own tool first. For a newer one use a newer release of hyperkube.',
  },
  ADOPT_CERTIFICATE_EXPIRED: {
    summary: 'Certificates of the cluster have expired.',
    remedy:
      'Renew them with the tool that manages the cluster: `kubeadm certs renew all` or `rke cert rotate`.',
  },
  ADOPT_CA_KEY_MISSING: {
    summary: 'A control plane does not have the key of a CA.',
    meaning: 'The cluster has an external CA. hyperkube signs certificates itself, so it needs the key.',
    remedy: 'Copy the key to the control planes, at the path in the message.',
  },
  ADOPT_CA_BUNDLE: {
    summary: 'A CA file has several certificates.',
    meaning: 'Usually the CA is being replaced. The identity of hyperkube has one certificate for each CA.',
    remedy: 'Finish the replacement first.',
  },
  ADOPT_STATE_MISMATCH: {
    summary: 'The state file of RKE1 has another CA than the hosts.',
    meaning: 'The file is of another cluster, or older than the last rotation of the CA.',
    remedy: 'Use the `cluster.rkestate` of the last `rke up`, or leave out `--state`.',
  },
  ADOPT_KEY_MISMATCH: {
    summary: 'A key does not belong to the certificate of its CA.',
    meaning: 'No file was written.',
    remedy: 'Compare both files on the control planes with `openssl x509 -noout -pubkey -in FILE`.',
  },
  ADOPT_KEY_NOT_READ: {
    summary: 'A private key of the cluster is missing or is not a key.',
    meaning: 'No file was written.',
    remedy: 'Check the file on the control planes with `openssl pkey -noout -in FILE`.',
  },
  ADOPT_SERVICE_ACCOUNTS: {
    summary: 'API servers have several issuers or keys of service account tokens.',
    meaning:
      'Usually the key is being replaced, or control planes have different keys. Tokens of the other keys would become invalid.',
    remedy: 'Finish the replacement first, so that all control planes have the same key.',
  },
  ADOPT_API_PORT: {
    summary: 'API servers use a port that the apiserver-proxy of hyperkube needs.',
    meaning: 'The proxy listens on ports 6444 and 6445 of each host.',
    remedy: 'Move the API servers to another port with the tool that manages the cluster.',
  },
  ADOPT_AUTHORIZATION: {
    summary: 'The API server does not use RBAC, or a file configures its authorization.',
    meaning: 'hyperkube always uses Node and RBAC. Clients without roles would lose their access.',
    remedy: 'Enable RBAC with the tool that manages the cluster, and give all clients their roles.',
  },
  ADOPT_ENCRYPTION: {
    summary: 'Data in etcd is encrypted in a way that hyperkube cannot keep.',
    meaning:
      'hyperkube keeps keys of aescbc, aesgcm and secretbox. Keys of kms are not in a file. All control planes must have the same file, because hyperkube keeps that of the first one.',
    remedy:
      'Encrypt with one of these providers, and rewrite all Secrets. Make the file equal on all control planes.',
  },
  ADOPT_EXTERNAL_ETCD: {
    summary: 'etcd runs outside of the cluster.',
    remedy: 'Move the data to etcd members on the control planes first.',
  },
  ADOPT_ETCD_MEMBER_LOST: {
    summary: 'An etcd member is lost, unhealthy, or not on a host of the cluster.',
    remedy:
      'Repair or remove the member first: `etcdctl endpoint status --cluster`, `etcdctl member remove ID`.',
  },
  ADOPT_CNI: {
    summary: 'The pod network cannot be adopted.',
    meaning: 'Only the data path of flannel and canal can be continued by hyperkube, with VXLAN or host-gw.',
    remedy:
      'Keep the cluster with its tool, or create a new cluster with `spec.network.plugin: none` and move the workloads.',
  },
  ADOPT_IPV6_FIRST: {
    summary: 'The first network of Services is an IPv6 network.',
    meaning: 'etcd and API servers of such a cluster use IPv6 addresses. hyperkube connects them over IPv4.',
    remedy: 'Keep the cluster with its tool, or create a new cluster and move the workloads.',
  },
  ADOPT_KUBE_PROXY_MISSING: {
    summary: 'The cluster has no kube-proxy.',
    remedy: 'Install kube-proxy first, or keep the cluster with its tool.',
  },
  ADOPT_SETTINGS: {
    summary: 'A setting of the cluster is not valid for hyperkube.',
    remedy: 'The message names the setting. Change it with the tool that manages the cluster.',
  },
  ADOPT_IDENTITY_EXISTS: {
    summary: 'The identity file of the new cluster.yml already exists.',
    meaning: 'It belongs to another cluster, or to an interrupted `hyperkube adopt`. Nothing was written.',
    remedy: 'Use another directory with `-f FILE`. After an interrupted `adopt`, remove the identity file.',
  },
  ADOPT_LOCK_NOT_WRITTEN: {
    summary: 'cluster.yml and the identity were written, but cluster.lock was not.',
    remedy: 'Check `spec.artifacts` and `spec.registries` in cluster.yml, then run `hyperkube lock`.',
  },
  ADOPT_KEEPS_VERSION: { summary: 'An adoption keeps the Kubernetes version.', remedy: reportRemedy },
  ADOPT_KEEPS_NODES: { summary: 'An adoption keeps nodes and their names.', remedy: reportRemedy },
  ADOPT_KEEPS_ETCD: { summary: 'An adoption keeps the data of etcd members.', remedy: reportRemedy },
  ADOPT_KEEPS_NETWORKS: {
    summary: 'An adoption keeps the networks of pods and services.',
    remedy: reportRemedy,
  },
  ADOPT_KEEPS_CAS: {
    summary: 'An adoption keeps all CAs and their keys.',
    remedy: reportRemedy,
  },
  ADOPT_KEEPS_TOKENS: { summary: 'An adoption keeps service account tokens valid.', remedy: reportRemedy },
  ADOPT_KEEPS_ENCRYPTION: {
    summary: 'An adoption keeps the keys that encrypt data in etcd.',
    remedy: reportRemedy,
  },
  ADOPT_KEEPS_OBJECTS: {
    summary: 'An adoption keeps all objects of the API, including addons.',
    remedy: reportRemedy,
  },
  ADOPT_KEEPS_POLICIES: {
    summary: 'An adoption keeps the effect of NetworkPolicy objects.',
    remedy: 'To enforce them with flannel, set `spec.network.policy: kube-router` afterwards.',
  },
  ADOPT_KEEPS_POD_NETWORK: {
    summary: 'An adoption keeps the programs of the pod network, and kube-proxy.',
    remedy: reportRemedy,
  },
  ADOPT_CHANGES_KUBELET_ACCESS: {
    summary: 'Access to the kubelets of hosts that have not moved yet would be interrupted.',
    remedy: 'Move the remaining hosts with `hyperkube up`.',
  },
  ADOPT_CHANGES_POD_DEFAULTS: {
    summary: 'Pods that are created later would get stricter defaults.',
    remedy:
      'To keep the previous ones, set `seccompDefault` and `podPidsLimit` in `spec.components.kubelet.config`.',
  },
  ADOPT_CHANGES_EXTERNAL_IPS: {
    summary: 'API servers would refuse new `externalIPs` of Services.',
    meaning:
      'API servers of hyperkube enable the admission plugin DenyServiceExternalIPs. Services that have such addresses keep them.',
    remedy:
      'To allow them, set `disable-admission-plugins: DenyServiceExternalIPs` in `spec.components.apiServer.args`.',
  },
  ADOPT_CHANGES_METRICS_ADDRESS: {
    summary: 'Metrics of kube-controller-manager or kube-scheduler would be served only at 127.0.0.1.',
    meaning: 'RKE1 sets no address, so both listen on all addresses of their host.',
    remedy:
      'If Prometheus reads them from other hosts, set `bind-address` in `spec.components.controllerManager.args` and `spec.components.scheduler.args`.',
  },
  ADOPT_CHANGES_COMPONENTS: {
    summary: 'Components would become systemd services.',
    remedy: reportRemedy,
  },
  ADOPT_CHANGES_CERTIFICATES: {
    summary: 'Hosts would get new certificates of the same CAs.',
    remedy: reportRemedy,
  },
  ADOPT_CHANGES_RUNTIME: { summary: 'Another containerd would run the pods.', remedy: reportRemedy },
  ADOPT_CHANGES_ETCD_DIRECTORY: { summary: 'The data directory of etcd would change.', remedy: reportRemedy },
  ADOPT_CHANGES_KUBE_PROXY_SERVICE: {
    summary: 'kube-proxy would become a service of each host.',
    remedy: reportRemedy,
  },
  ADOPT_LOSES_FLAGS: {
    summary: 'Flags or configuration fields of a component have no equivalent in the new cluster.yml.',
    remedy: 'If the cluster needs them, set `spec.components` in cluster.yml.',
  },
  ADOPT_LOSES_POD_SECURITY: {
    summary: 'Pod Security of namespaces without a label would be weaker.',
    meaning:
      'cluster.yml has one level, the latest rules, and no exemptions. With exemptions of the previous tool it gets the level `privileged`, so that no pod is refused. Only kube-system is exempt from other levels.',
    remedy:
      'Label the exempt namespaces with `pod-security.kubernetes.io/enforce`, and set `spec.security.podSecurity` before `hyperkube up`.',
  },
  ADOPT_LOSES_ADMISSION: {
    summary: 'A file of API servers configures admission plugins, and cluster.yml has no such settings.',
    remedy: 'Check that the cluster works without the settings of these plugins.',
  },
  ADOPT_LOSES_ENVIRONMENT: {
    summary: 'Environment variables of static pods have no equivalent in cluster.yml.',
    meaning: 'Usually they name a proxy through which API servers reach webhooks or an OIDC provider.',
    remedy: 'Check that the components work without them before `hyperkube up`.',
  },
  ADOPT_LOSES_RUNTIME_SETTINGS: {
    summary: 'Registries or runtimes in the configuration of containerd would not be used any more.',
    meaning: 'The containerd of hyperkube has its own configuration. It does not read /etc/containerd.',
    remedy:
      'Before `hyperkube up`, set registries in `spec.registries`, and runtimes such as that of NVIDIA in `spec.components.containerd.config`.',
  },
  ADOPT_LOSES_DROP_INS: {
    summary: 'Drop-in files of the kubelet or the container runtime would have no effect.',
    meaning: 'They often set the proxy through which images are pulled.',
    remedy: 'For a proxy, set `spec.proxy` in cluster.yml before `hyperkube up`.',
  },
  ADOPT_LOSES_SETTINGS: {
    summary: 'A setting in the file of RKE1 has no equivalent in the new cluster.yml.',
    remedy: 'The line names the key. Check whether the cluster needs it.',
  },
  ADOPT_LOSES_DOCKER_SETTINGS: {
    summary: 'Docker has settings that the containerd of hyperkube would not have.',
    meaning:
      'Docker pulls images through a proxy or a mirror, trusts other registries, sends logs of pods elsewhere, or starts them with another runtime.',
    remedy: 'Set `spec.proxy` and `spec.registries` in cluster.yml before `hyperkube up`.',
  },
  ADOPT_LOSES_MOUNT_PROGRAMS: {
    summary: 'A host does not have a program for volumes that the image of the kubelet of RKE1 has.',
    meaning:
      'The kubelet of hyperkube runs on the host. Without `mount.nfs`, for example, volumes of NFS fail.',
    remedy: 'If volumes need the program, install its package on the host before `hyperkube up`.',
  },
  ADOPT_LOSES_SNAPSHOTS: {
    summary: 'The recurring snapshots of etcd by RKE1 would end.',
    remedy:
      'Set `spec.etcd.snapshots` and `spec.etcd.backup` in cluster.yml: [Back up](../how-to/backup.md).',
  },
  ADOPT_LOSES_RANCHER: {
    summary: 'Rancher manages the hosts of the cluster.',
    meaning:
      'The agents of Rancher work with Docker. A change of the cluster in Rancher could install RKE1 again. This was never tried.',
    remedy: 'Do not change the cluster in Rancher any more. Rehearse the adoption on a copy first.',
  },
  ADOPT_LOSES_STATIC_PODS: {
    summary: 'Static pods that are no components of Kubernetes would stop.',
    remedy: 'Run them as DaemonSets. For an address of the API use `spec.api.virtualIP`.',
  },
  ADOPT_LOSES_POLICIES: {
    summary: 'Policies of Calico or Cilium would not be enforced.',
    remedy: 'Write them as NetworkPolicy objects.',
  },
  ADOPT_LOSES_ETCD_NODES: {
    summary: 'Hosts that run only etcd would be no nodes any more.',
    remedy: 'Pods on these hosts must be able to run elsewhere.',
  },
  ADOPT_LOSES_TOOL: {
    summary: 'The previous tool could not manage the cluster any more.',
    remedy: 'Use the commands of hyperkube instead.',
  },
}

import type { NodePlan } from '../../contract/node-plan.ts'
import { joinNames, quoteShellIfNeeded } from '../../kit/text.ts'
import { formatSshCommand } from '../../plan/checks/presence.ts'
import { listComponentFates, listKeptClients } from './component-fate.ts'
import {
  type EjectInput,
  formatEtcdTag,
  isControlPlanePlan,
  keepsKubeadmDns,
  keepsKubeadmProxy,
  readVersion,
  selectControlPlaneEndpoint,
} from './eject-context.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import { kubeProxyLabel } from './kube-proxy.ts'
import { findPlannedComponent } from './service-args.ts'

/** Renders the instructions for the operator, with the order of the hosts. */
export function renderReadme(input: EjectInput): string {
  const { cluster, plans } = input
  const controlPlanes = plans.filter(isControlPlanePlan)
  const ordered = [...controlPlanes, ...plans.filter((plan) => !isControlPlanePlan(plan))]
  const versions = [...new Set(ordered.map((plan) => readVersion(plan, 'kubelet')))]
  const rows = listComponentFates(input).map(
    ({ component, hosts, fate, note }) => `| ${component} | ${hosts.join(' ')} | ${fate} | ${note} |`,
  )
  const steps = ordered.flatMap(({ host }) => [
    `tar -cC hosts/${host} . | ${formatRootCommand(input, host, unpack)} &&`,
    formatRootCommand(input, host, '/root/eject/eject.sh'),
  ])
  const first = controlPlanes[0]?.host ?? ''
  const kubeadm = (args: string): string => formatRootCommand(input, first, `kubeadm ${args}`)
  return `# ${cluster.metadata.name}: from hyperkube to kubeadm

**This directory contains the keys of the CAs.** They give full access to the cluster. Delete the directory, and
/root/eject on the hosts, when you are done.

| component | hosts | what happens | note |
|---|---|---|---|
${rows.join('\n')}

## Before

1. Take a snapshot: \`hyperkube etcd snapshot save\`. After the first host has moved, do not run hyperkube commands that
   change hosts, unless you return all hosts with \`--undo\`.
2. Install kubeadm, kubelet and kubectl ${versions.join(', ')} on every host, without starting the kubelet. The script finds the
   kubelet in PATH.
3. Create the objects that kubeadm reads.${usesKubeProxy(cluster.spec.network) ? ' kube-proxy runs as a pod only on hosts that have moved.' : ''}

${renderPreparation(input)}\`\`\`sh
hyperkube kubectl apply --server-side --force-conflicts -f cluster/nodes.yaml -f cluster/objects.yaml
\`\`\`
${renderHostPreparation(input)}
## The hosts, one by one

Wait until the node is Ready and its pods run before you continue with the next host.

\`\`\`sh
${steps.join('\n')}
\`\`\`

A control plane is without its API server from the stop of the service until the static pod is ready. All nodes use ${selectControlPlaneEndpoint(input) ?? ''}.

## After

\`\`\`sh
${kubeadm(`upgrade plan v${cluster.spec.kubernetes}${keepsKubeadmDns(input) ? '' : ` ${ignoreDns}`}`)}
${kubeadm('certs check-expiration')}
\`\`\`
${renderProxyLabel(input)}
${renderKeptClients(input)}
- Certificates of control planes are valid for a year. \`kubeadm upgrade\` and \`kubeadm certs renew all\` renew them.
- \`kubeadm upgrade\` gives all hosts the kubelet configuration of ${first}. Hosts of another size or with other settings need
  [patches](https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/kubeadm-upgrade/).
- New hosts join with \`kubeadm join --discovery-file\`: the API server allows anonymous requests only for its health.
- Before a control plane joins, copy /etc/kubernetes/kube-apiserver of ${first} to it. kubeadm does not copy these files,
  among them the keys that encrypt Secrets.
${renderEtcdTag(controlPlanes[0])}- kubelets have serving certificates of no CA, as kubeadm creates them. API servers do not verify them.
${renderMetrics(input)}${renderAddons(input)}

## Back

${renderProxyReturn(input)}Return the hosts in the opposite order with \`/root/eject/eject.sh --undo\`: ${joinNames(ordered.map(({ host }) => host).toReversed())}.
${renderObjectsReturn(input)}
`
}

/** Unpacks the files of a host as root. The files then belong to root. */
const unpack = 'sh -c "mkdir -pm 0700 /root/eject && tar -xC /root/eject --no-same-owner"'

/** Formats a command that runs as root on a host, with the ssh settings of cluster.yml. */
function formatRootCommand({ cluster }: EjectInput, name: string, command: string): string {
  const host = cluster.spec.hosts.find((one) => one.name === name)
  if (host === undefined) return command
  const user = host.ssh?.user ?? cluster.spec.ssh.user
  const asRoot = user === 'root' ? command : `sudo ${command}`
  return host.local ? asRoot : `${formatSshCommand(host, cluster.spec.ssh)} ${quoteShellIfNeeded(asRoot)}`
}

/** Says what to keep and to check before objects of kubeadm are replaced. */
function renderPreparation(input: EjectInput): string {
  if (input.adoptedFrom !== 'kubeadm') return ''
  const addons = [
    ...(keepsKubeadmProxy(input) ? ['daemonset/kube-proxy'] : []),
    ...(keepsKubeadmDns(input) ? ['deployment/coredns'] : []),
  ]
  const dnsFlag = keepsKubeadmDns(input)
    ? ` Without kubeadm's CoreDNS, also give \`kubeadm upgrade\` the flag\n   \`${ignoreDns}\`.`
    : ''
  const check =
    addons.length === 0
      ? ''
      : `
   Check that kubeadm's ${joinNames(addons)} still run. If one does not, set \`disabled: true\` for it in
   cluster/objects.yaml. Otherwise \`kubeadm upgrade\` creates it.${dnsFlag}`
  return `   This replaces the ConfigMaps from before the adoption. Save them: they can have settings that hyperkube does
   not have, such as \`imageRepository\`.${check}

\`\`\`sh
hyperkube kubectl -n kube-system get configmap kubeadm-config kubelet-config -o yaml > cluster/before.yaml
${addons.map((addon) => `hyperkube kubectl -n kube-system get ${addon}\n`).join('')}\`\`\`

`
}

/** Says which files from before an adoption have an effect again. */
function renderHostPreparation({ adoptedFrom }: EjectInput): string {
  if (adoptedFrom !== 'kubeadm') return ''
  return `
4. Files from before the adoption have an effect again. Look at them on every host, and remove what must not run:
   - other manifests in /etc/kubernetes/manifests: their pods start again
   - \`KUBELET_EXTRA_ARGS\` in /etc/default/kubelet or /etc/sysconfig/kubelet: a flag that the kubelet does not know any
     more prevents its start
`
}

/** kubeadm does not change an image whose tag is in its configuration. */
function renderEtcdTag(controlPlane: NodePlan | undefined): string {
  if (controlPlane === undefined) return ''
  return `- etcd stays at ${formatEtcdTag(controlPlane)}, because \`imageTag\` is in the ConfigMap kubeadm-config. Remove it before an upgrade that needs
  a newer etcd, and check the flags in \`extraArgs\` beside it.
`
}

/** The metrics-server of hyperkube verifies the certificates of kubelets, and has one of hyperkube itself. */
function renderMetrics({ cluster }: EjectInput): string {
  if (cluster.spec.metrics === 'none') return ''
  return `- The metrics-server of hyperkube verifies them and cannot read kubelets any more. Replace it with that of upstream, with
  the flag \`--kubelet-insecure-tls\`.
`
}

/** Says who manages the addons from now on. */
function renderAddons(input: EjectInput): string {
  if (keepsKubeadmDns(input))
    return `- \`kubeadm upgrade apply\` updates ${joinNames([...(keepsKubeadmProxy(input) ? ['kube-proxy'] : []), 'CoreDNS'])} again, which have had no updates since the adoption. Other addons
  stay as they are.`
  const proxy = keepsKubeadmProxy(input)
    ? `- \`kubeadm upgrade apply\` updates kube-proxy again, which has had no updates since the adoption.\n`
    : ''
  return `${proxy}- CoreDNS and other addons stay as they are. kubeadm does not manage them (\`dns.disabled\`), but
  \`kubeadm upgrade\` checks the version of CoreDNS: give it the flag above.`
}

/** Says what ends a DaemonSet that would run beside hyperkube's kube-proxy. */
function renderProxyReturn({ cluster }: EjectInput): string {
  if (!usesKubeProxy(cluster.spec.network)) return ''
  return `If kube-proxy runs on all nodes already, first run \`${deleteProxy}\`.
`
}

const deleteProxy = 'hyperkube kubectl -n kube-system delete daemonset kube-proxy --ignore-not-found'

/** Says which objects to delete. Those of an adopted cluster existed before, and admin.conf needs them. */
function renderObjectsReturn({ cluster, adoptedFrom }: EjectInput): string {
  if (adoptedFrom !== 'kubeadm')
    return 'Then run `hyperkube kubectl delete -f cluster/objects.yaml --ignore-not-found` and `hyperkube up`.'
  const proxy = usesKubeProxy(cluster.spec.network) ? ` \`${deleteProxy}\` and` : ''
  return `Then run${proxy} \`hyperkube up\`.
**Do not delete cluster/objects.yaml from the cluster.** Objects of the same names were there before the adoption, and
\`admin.conf\` has its rights from one of them. hyperkube ignores them.`
}

/** Says how kube-proxy gets to nodes that join later. */
function renderProxyLabel({ cluster }: EjectInput): string {
  if (!usesKubeProxy(cluster.spec.network)) return ''
  const path = `/spec/template/spec/nodeSelector/${kubeProxyLabel.name.replace('/', '~1')}`
  return `
After the last host, let kube-proxy run on all nodes. New nodes do not have the label ${kubeProxyLabel.name}:

\`\`\`sh
hyperkube kubectl -n kube-system patch daemonset kube-proxy --type json -p '[{"op":"remove","path":"${path}"}]'
\`\`\`
`
}

/** kubeadm checks CoreDNS even if it does not manage it. */
const ignoreDns = '--ignore-preflight-errors=CoreDNSUnsupportedPlugins,CoreDNSMigration'

/** Says how the credentials of kept services are renewed. */
function renderKeptClients({ plans }: EjectInput): string {
  const kept = [...new Set(plans.flatMap(listKeptClients))]
  if (kept.length === 0) return ''
  const users = plans.flatMap((plan) =>
    listKeptClients(plan).flatMap((name) => {
      const subject = findPlannedComponent(plan, name)?.certificates[0]?.subject
      if (subject === undefined) return []
      const groups = subject.organizations.map((group) => ` --org ${group}`).join('')
      return [
        `kubeadm kubeconfig user --validity-period 8760h --client-name ${subject.commonName}${groups}    # ${plan.host}: /etc/hyperkube/${name}/kubeconfig`,
      ]
    }),
  )
  return `No program renews the kubeconfigs of ${joinNames(kept)}. They are valid for a year. Write new ones on a control plane, copy each
to its host, and restart the service:

\`\`\`sh
${users.join('\n')}
\`\`\`
`
}

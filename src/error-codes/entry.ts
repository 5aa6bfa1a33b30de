/** A symptom that operators notice before they know an error code. Text for docs/troubleshooting.md. */
interface SymptomText {
  readonly title: string
  /** First command to run or first thing to check. */
  readonly first: string
  /** Text after the list of codes, if the codes do not explain everything. */
  readonly more?: string
}

/** Symptoms in the order in which operators meet them. */
const symptomTexts = {
  'not-started': {
    title: 'A command fails before it connects to any host',
    first: 'A file is missing. The message names it.',
    more: 'Never create a new identity with `hyperkube init` for a running cluster: its hosts trust only the existing one.',
  },
  'no-way': {
    title: 'A host is unreachable, or refuses the login',
    first: '`hyperkube doctor` lists the hosts and the affected parts of the cluster.',
    more: `\`up\` continues without a worker, and without one control plane of three or two of five: a warning with exit code 3. Run it again
when the host is reachable. An error means that too many hosts, or a required one, are unreachable.`,
  },
  refused: {
    title: '`up` refuses before any change',
    first:
      'The command to run follows the arrow of each message. To continue anyway: `hyperkube up --ignore CODE`.',
  },
  'two-at-once': {
    title: 'Another operator is changing the cluster',
    first: 'The message names the operator, the machine and the process. Wait, or ask that operator.',
  },
  'step-failed': {
    title: '`up` fails or waits during a rollout',
    first:
      'Run `hyperkube status` in another terminal. The cause follows `waiting until …:`. After it is fixed, `hyperkube up` continues.',
    more: `While it waits for an addon it names the object that is not ready. \`kubectl -n kube-system get pods\` shows the rest;
\`hyperkube addon list\` shows the status of every addon.

- **traefik** needs ports 80 and 443 of every control plane. \`HOST_PORT_TAKEN\` names the process that uses them; set other ports in \`spec.ingress\`, or \`none\`.
- **coredns** is not ready while it cannot reach the API: check kube-proxy of its node with \`hyperkube doctor\`.
- **metrics-server** needs half a minute to scrape every kubelet twice.`,
  },
  'node-not-ready': {
    title: 'A node is NotReady',
    first:
      '`hyperkube doctor --limit HOST` names the cause first. Usually the agent is already healing it, and the finding says so.',
    more: 'A node that was off for months has expired certificates: run `hyperkube certs renew HOST`.',
  },
  'no-pods': {
    title: 'Pods do not start, or nothing is scheduled',
    first:
      'Run `hyperkube doctor`. If it finds nothing, `kubectl describe pod POD` shows what the pod waits for.',
  },
  'no-service': {
    title: 'Pods do not reach each other, services or names',
    first: '`hyperkube doctor` finds missing rules, routes and interfaces on every node.',
    more: `CoreDNS forwards names outside the cluster to the resolvers of the hosts, or to the servers of \`spec.dns.forward\`. Between nodes the usual
cause is a firewall that drops UDP packets of the pod network.`,
  },
  'no-api': {
    title: 'kubectl says connection refused, or hangs',
    first: '`hyperkube doctor` works without the API. `hyperkube proxy` connects to a healthy control plane.',
  },
  etcd: {
    title: 'etcd is unhealthy',
    first:
      '`hyperkube etcd status` shows its members. Agents do not restart members for a lost quorum, and never start one with empty data.',
    more: '[Backups](how-to/backup.md) explains how to restore a cluster from a snapshot.',
  },
  certificates: {
    title: 'A certificate has expired or is not renewed',
    first:
      'Run `hyperkube certs list`. Hosts renew certificates automatically ([how](how-to/rotate-keys.md#certificates)). `hyperkube logs hyperkube-agent` shows failed renewals.',
  },
  disk: { title: 'A disk is full or slow', first: 'Run `df -h` and `iostat -x 5` on the host.' },
  healing: {
    title: 'The agent of a host does not heal, or is unreachable',
    first:
      '`hyperkube status` shows the recent actions of agents and their causes. `hyperkube doctor` shows their diagnosis.',
  },
} as const satisfies Readonly<Record<string, SymptomText>>

export type Symptom = keyof typeof symptomTexts

export const symptoms: readonly (readonly [id: string, text: SymptomText])[] = Object.entries(symptomTexts)

/** Explanation of one error code for operators. Commands in the texts are in backquotes. */
export interface ErrorCodeEntry {
  /** What happened, in one sentence. */
  readonly summary: string
  /** Why it matters or what causes it, if the summary does not say so. */
  readonly meaning?: string
  /** What to do next. */
  readonly remedy: string
  /** Symptoms that lead to this code in docs/troubleshooting.md. */
  readonly symptoms?: readonly Symptom[]
}

/** Entries by code. A code keeps its meaning in all releases; a retired code is never used again. */
export type ErrorCodeEntries = Readonly<Record<string, ErrorCodeEntry>>

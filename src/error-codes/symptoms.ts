/** What people see who do not know yet what is wrong, and what they do first. Text for docs/troubleshooting.md. */
interface SymptomText {
  readonly title: string
  /** What to type or look at before anything else. */
  readonly first: string
  /** What stands below the codes, where they do not say all. */
  readonly more?: string
}

/** In the order in which people come to them. */
const texts = {
  'not-started': {
    title: 'A command ends before any host is asked',
    first: 'It lacks a file. The message names it.',
    more: 'Never make a new identity with `hyperkube init` for a cluster that runs: its hosts trust the one that they know.',
  },
  'no-way': {
    title: 'A host does not answer, or does not let you in',
    first: '`hyperkube doctor` says which hosts, and what of the cluster suffers from it.',
    more: `\`up\` goes on without a worker, or without one control plane of three or two of five: a warning, and exit code 3. Type it again once
the host answers. An error means that too many are away, or one that must be there.`,
  },
  refused: {
    title: '`up` refuses before anything is done',
    first:
      'Each message has the line to type after its arrow. What you know better: `hyperkube up --ignore CODE`.',
  },
  'two-at-once': {
    title: 'Somebody else is at work',
    first: 'The message says who, and which process of which machine. Wait, or ask them.',
  },
  'step-failed': {
    title: '`up` fails or waits while hosts are at work',
    first:
      '`hyperkube status` in another terminal. After `waiting until …:` stands why; once that is mended, `hyperkube up` goes on.',
    more: `When it waits for an addon it says which object is not ready. \`kubectl -n kube-system get pods\` shows the rest;
\`hyperkube addon list\` says at any time how each of them is.

- **traefik** needs ports 80 and 443 of every node. \`HOST_PORT_TAKEN\` names whoever has them; \`spec.ingress\` has other ports, or \`none\`.
- **coredns** is not ready while the API does not answer it: look at kube-proxy of its node with \`hyperkube doctor\`.
- **metrics-server** takes half a minute to have two looks at every kubelet.`,
  },
  'node-not-ready': {
    title: 'A node is NotReady',
    first:
      '`hyperkube doctor --limit HOST` names the cause first. Its agent is mostly at it already, and the finding says so.',
    more: 'A node that was off for months comes back with expired certificates: `hyperkube certs renew HOST`.',
  },
  'no-pods': {
    title: 'Pods do not start, or nothing is scheduled',
    first:
      '`hyperkube doctor`; if nothing is wrong, `kubectl describe pod POD` says what the pod itself waits for.',
  },
  'no-service': {
    title: 'Pods do not reach each other, services or names',
    first: '`hyperkube doctor` finds missing rules, routes and interfaces of every node.',
    more: `Names outside the cluster: CoreDNS asks whom the hosts ask, and \`spec.dns.forward\` names servers for all of the cluster. Between nodes it is
mostly a firewall that drops UDP of the network.`,
  },
  'no-api': {
    title: 'kubectl says connection refused, or hangs',
    first:
      '`hyperkube doctor` works without the API. `hyperkube proxy` leads to whichever control plane is well.',
  },
  etcd: {
    title: 'etcd is not well',
    first:
      '`hyperkube etcd status` shows its members. Agents restart none for the sake of a quorum, and never start one empty.',
    more: '[Backups](how-to/backup.md) says how a cluster comes back from a snapshot.',
  },
  certificates: {
    title: 'A certificate has expired or is not renewed',
    first:
      '`hyperkube certs list`. Hosts renew by themselves ([how](how-to/rotate-keys.md#certificates)); `hyperkube logs hyperkube-agent` says once when they cannot.',
  },
  disk: { title: 'A disk is full or slow', first: '`df -h` and `iostat -x 5` on the host.' },
  healing: {
    title: 'The agent of a host does not heal, or does not answer',
    first:
      '`hyperkube status` shows what agents did lately and why; `hyperkube doctor` what they make of it.',
  },
} as const satisfies Readonly<Record<string, SymptomText>>

export type Symptom = keyof typeof texts

export const symptoms: readonly (readonly [id: string, text: SymptomText])[] = Object.entries(texts)

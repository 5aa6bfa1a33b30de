import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Arrow, type Box, readDecisionTree, renderDecisionTree, renderDiagram } from './diagrams.ts'

const docs = join(import.meta.dirname, '../docs')

/** Pages with a decision tree in Mermaid, and the title of its picture. */
const decisionTrees: Readonly<Record<string, string>> = {
  'how-to/runbook-api-down.md': 'What to do when the Kubernetes API is down',
  'how-to/runbook-etcd-quorum-lost.md': 'What to do when etcd has lost its quorum',
  'how-to/runbook-node-lost.md': 'What to do when a node is lost',
}

/** How an agent decides about an unhealthy component, in the notation of the runbooks. */
const healingTree = `
  probe["the agent probes a component"] --> risk{"Would any action risk data?"}
  risk -->|yes| refuse["refuse, and name the command to run"]
  risk -->|no| local{"Did a local probe fail several times?"}
  local -->|no| report["report only; doctor names a remote cause"]
  local -->|yes| paused{"Is healing paused, or does an operator change the host?"}
  paused -->|yes| later["wait for its end"]
  paused -->|no| depends{"Is a dependency unhealthy, such as etcd or containerd?"}
  depends -->|yes| blocked["blocked: the dependency comes first"]
  depends -->|no| budget{"Ten disruptions in ten minutes?"}
  budget -->|yes| spent["HEAL_BUDGET_SPENT: wait"]
  budget -->|no| step["take one step: restart, repair or save logs"]
  step --> healthy{"Healthy again?"}
  healthy -->|yes| reset["the next failure starts at step 1"]
  healthy -->|no| exhausted{"All steps used?"}
  exhausted -->|no| next["wait, then take the next step"]
  exhausted -->|yes| give["HEAL_EXHAUSTED: report, try once an hour"]
`

/** Returns a box with the usual height: 36 for one line, 50 for a heading with a second line. */
function box(x: number, y: number, width: number, text: string, colour: Box['colour'] = 'blue'): Box {
  return { x, y, width, height: text.includes('\n') ? 50 : 36, text, colour }
}

function frame(x: number, y: number, width: number, height: number, text: string): Box {
  return { x, y, width, height, text }
}

function link(from: Box, to: Box, direction: Arrow['direction'], options: Partial<Arrow> = {}): Arrow {
  return { from, to, direction, ...options }
}

function renderTopology(): string {
  const operator = box(20, 30, 150, 'hyperkube', 'grey')
  const users = box(484, 4, 180, 'kubectl', 'grey')
  const endpoint = box(484, 66, 180, 'spec.api.endpoint\nor hyperkube proxy', 'grey')
  const hosts = ['cp1', 'cp2', 'cp3'].map((name, index) => {
    const x = 30 + index * 227
    return {
      frame: frame(x - 14, 190, 206, 190, name),
      agent: box(x, 216, 178, 'agent', 'green'),
      server: box(x, 264, 178, 'API server'),
      member: box(x, 330, 178, 'etcd member', 'amber'),
    }
  })
  const [first, second, third] = hosts
  if (first === undefined || second === undefined || third === undefined) throw new Error('three hosts')
  const proxy = box(254, 456, 184, 'apiserver-proxy\n127.0.0.1:6444')
  const agent = box(30, 463, 120, 'agent', 'green')
  const clients = ['kubelet', 'kube-proxy', 'flanneld'].map((name, index) =>
    box(120 + index * 166, 546, 120, name),
  )
  const node = frame(16, 430, 656, 164, 'every node')
  return renderDiagram({
    title: 'Topology: operator, control planes with etcd, and nodes with their own proxy',
    width: 688,
    height: 600,
    frames: [frame(8, 4, 174, 74, 'your machine'), node, ...hosts.map((host) => host.frame)],
    boxes: [
      operator,
      users,
      endpoint,
      proxy,
      agent,
      ...clients,
      ...hosts.flatMap((host) => [host.agent, host.server, host.member]),
    ],
    arrows: [
      link(operator, first.frame, 'down'),
      link(operator, second.frame, 'down'),
      link(operator, { ...third.frame, width: 60 }, 'down', { text: 'ssh to the agent of every host' }),
      link(users, endpoint, 'down'),
      link(endpoint, third.frame, 'down', { text: 'TCP 6443, any control plane' }),
      ...hosts.map(({ server, member }) => link(server, member, 'down')),
      link(first.member, second.member, 'right', { heads: 'both' }),
      link(second.member, third.member, 'right', { heads: 'both' }),
      link(proxy, first.frame, 'up'),
      link(proxy, third.frame, 'up'),
      link(proxy, second.frame, 'up', { text: 'to a healthy API server' }),
      ...clients.map((client) => link(client, proxy, 'up')),
    ],
  })
}

function renderDataFlow(): string {
  const inputs = ['cluster.yml', 'cluster.lock', 'cluster.identity', 'facts of each host'].map(
    (text, index) => box(8, 4 + index * 46, 150, text, 'grey'),
  )
  const plan = box(228, 66, 170, 'plan\none NodePlan per host')
  const rollout = box(478, 66, 180, 'rollout\nsteps with gates')
  const agent = box(478, 234, 180, 'agent\ndiff, apply', 'green')
  const services = box(168, 214, 220, 'systemd services', 'amber')
  const records = box(168, 266, 220, 'journal, ledger, applied plan', 'grey')
  return renderDiagram({
    title: 'Data flow: from cluster.yml to the services of each host',
    width: 688,
    height: 320,
    frames: [frame(60, 196, 620, 118, 'each host')],
    boxes: [...inputs, plan, rollout, agent, services, records],
    arrows: [
      ...inputs.map((from) => link(from, plan, 'right')),
      link(plan, rollout, 'right'),
      link(rollout, agent, 'down', { text: 'ssh, agent-call' }),
      link(agent, services, 'left'),
      link(agent, records, 'left', { heads: 'none' }),
    ],
  })
}

function renderLoops(): string {
  const row = (y: number, names: readonly string[], colour: Box['colour']) =>
    names.map((name, index) => box(26 + index * 164, y, 140, name, colour))
  const operator = row(30, ['observe', 'propose', 'confirm', 'execute'], 'grey')
  const agent = row(156, ['report', 'probe', 'decide', 'act'], 'green')
  const controllers = row(300, ['informers', 'reconcile'], 'blue')
  const objects = box(354, 293, 304, 'objects\nHost objects, conditions, ClusterStatus')
  const chain = (boxes: readonly Box[]) =>
    boxes.slice(1).flatMap((to, index) => {
      const from = boxes[index]
      return from === undefined ? [] : [link(from, to, 'right')]
    })
  const [execute, report, act, informers] = [operator[3], agent[0], agent[3], controllers[0]]
  if (!execute || !report || !act || !informers) throw new Error('a box is missing')
  return renderDiagram({
    title: 'Three loops: operator commands, agents and controllers',
    width: 688,
    height: 366,
    frames: [
      frame(8, 4, 672, 74, 'operator commands'),
      frame(8, 130, 672, 84, 'agent loop on each host'),
      frame(8, 268, 672, 94, 'controllers on control planes, one leader'),
    ],
    boxes: [...operator, ...agent, ...controllers, objects],
    arrows: [
      ...chain(operator),
      ...chain(agent),
      link(act, { ...report, x: report.x + 20 }, 'back'),
      ...chain([...controllers, objects]),
      link({ ...objects, x: 354, width: 140 }, { ...informers, height: 43 }, 'back'),
      link(execute, act, 'down', { text: 'apply a plan, with the lock' }),
      link({ ...report, width: 100 }, { ...informers, width: 100 }, 'down', { text: 'Host status' }),
      link({ ...objects, x: 528, width: 140 }, { ...act, x: 528 }, 'up', { text: 'requests with a fence' }),
    ],
  })
}

function renderRollout(): string {
  const rows: readonly (readonly [stage: string, order: string, gate: string])[] = [
    ['prepare', 'all hosts at once; no restart', 'no gate'],
    ['etcd', 'one member at a time, the leader last', 'a quorum is healthy without it; then all are healthy'],
    ['api', 'one API server at a time', 'all others are ready; then this one is ready'],
    ['controllers', 'one control plane at a time', 'its controllers are ready'],
    [
      'node, network',
      'control planes one by one, then workers, maxUnavailable at once',
      'network up, nodes Ready',
    ],
    ['remove', 'reachable hosts to remove, one by one', 'the remaining etcd members are healthy'],
  ]
  const stages = rows.map(([stage], index) => box(8, 30 + index * 64, 126, stage))
  const cells = (column: 1 | 2, x: number, width: number, colour: Box['colour']) =>
    rows.map((row, index): Box => ({ ...box(x, 26 + index * 64, width, row[column], colour), height: 44 }))
  const orders = cells(1, 164, 240, 'grey')
  const gates = cells(2, 434, 246, 'amber')
  return renderDiagram({
    title: 'Order of a rollout in a running cluster: stages, hosts and gates',
    width: 688,
    height: 400,
    headings: [
      { x: 8, y: 10, text: 'stage' },
      { x: 164, y: 10, text: 'hosts' },
      { x: 434, y: 10, text: 'gate: otherwise the rollout stops' },
    ],
    boxes: [...stages, ...orders, ...gates],
    arrows: [
      ...stages.slice(1).flatMap((to, index) => {
        const from = stages[index]
        return from === undefined ? [] : [link(from, to, 'down')]
      }),
      ...stages.flatMap((from, index) => {
        const [order, gate] = [orders[index], gates[index]]
        return order && gate ? [link(from, order, 'right'), link(order, gate, 'right')] : []
      }),
    ],
  })
}

function renderCaRotation(): string {
  const phases = ['1. trust', '2. switch', '3. distrust'].map((text, index) =>
    box(4 + index * 260, 4, 160, text),
  )
  const details = [
    'hosts trust both CAs; the previous one signs',
    'the new CA issues every certificate again; hosts trust both',
    'hosts trust only the new CA',
  ].map((text, index): Box => ({ ...box(4 + index * 260, 52, 160, text, 'grey'), height: 76 }))
  const [trust, change, distrust] = phases
  if (!trust || !change || !distrust) throw new Error('a phase is missing')
  return renderDiagram({
    title: 'CA rotation in three phases: trust, switch, distrust',
    width: 688,
    height: 134,
    boxes: [...phases, ...details],
    arrows: [
      link(trust, change, 'right', { text: 'all hosts' }),
      link(change, distrust, 'right', { text: 'all hosts' }),
    ],
  })
}

function renderCells(): string {
  const engineers = box(234, 4, 220, 'engineers\nlist, search, count', 'grey')
  const model = box(234, 96, 220, 'read model\nPostgreSQL', 'amber')
  const cells = ['A', 'B'].map((name, index) => {
    const x = 24 + index * 348
    return {
      frame: frame(x - 16, 196, 324, 150, `cell ${name}`),
      plane: box(x + 56, 222, 180, `management plane ${name}`),
      clusters: box(x + 56, 296, 180, 'managed clusters', 'green'),
    }
  })
  return renderDiagram({
    title: 'Cells: each has one management plane, which feeds a common read model',
    width: 688,
    height: 352,
    frames: cells.map((cell) => cell.frame),
    boxes: [engineers, model, ...cells.flatMap(({ plane, clusters }) => [plane, clusters])],
    arrows: [
      link(engineers, model, 'down'),
      ...cells.map(({ plane }) => link(plane, model, 'up', { text: 'reader' })),
      ...cells.map(({ plane, clusters }) => link(clusters, plane, 'up', { text: 'pull, report' })),
    ],
  })
}

async function renderRunbook(page: string): Promise<string> {
  const text = await readFile(join(docs, page), 'utf8')
  const mermaid = /```mermaid\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  return renderDecisionTree(decisionTrees[page] ?? page, readDecisionTree(mermaid))
}

function renderAdoption(): string {
  const step = (index: number, text: string, colour: Box['colour']): Box =>
    box(20, 12 + index * 66, 300, text, colour)
  const before = ['1. read\nadopt --dry-run', '2. write files\nadopt', '3. plan\nplan'].map((text, index) =>
    step(index, text, 'grey'),
  )
  const moving = [
    '4. move control planes, one by one\nup',
    '5. move workers\nup',
    '6. observe the cluster\nstatus, doctor',
  ].map((text, index) => step(index + 3, text, 'blue'))
  const after = ['7. commit\nadopt commit', '8. rotate keys\ncerts rotate-ca', '9. upgrade\nupgrade'].map(
    (text, index) => step(index + 6, text, 'amber'),
  )
  const steps = [...before, ...moving, ...after]
  const ways = [
    box(400, 78, 272, 'no host has changed\ndelete the written files', 'green'),
    box(400, 276, 272, 'hosts return with their data\nadopt rollback', 'green'),
    box(400, 474, 272, 'no rollback to the other tool', 'grey'),
  ]
  return renderDiagram({
    title: 'Adoption of a running cluster: the steps, and how each of them is undone',
    width: 688,
    height: 602,
    boxes: [...steps, ...ways],
    arrows: [
      ...steps.slice(1).flatMap((to, index) => {
        const from = steps[index]
        return from === undefined ? [] : [link(from, to, 'down')]
      }),
      ...[before.slice(0, 2), [...before.slice(2), ...moving]].flatMap((group, index) => {
        const to = ways[index]
        return to === undefined ? [] : group.map((from) => link(from, to, 'right'))
      }),
    ],
  })
}

/** Renderers of all diagrams, by path in docs. */
export const diagrams: Readonly<Record<string, () => string | Promise<string>>> = {
  'public/diagrams/topology.svg': renderTopology,
  'public/diagrams/data-flow.svg': renderDataFlow,
  'public/diagrams/loops.svg': renderLoops,
  'public/diagrams/rollout.svg': renderRollout,
  'public/diagrams/ca-rotation.svg': renderCaRotation,
  'public/diagrams/cells.svg': renderCells,
  'public/diagrams/adoption.svg': renderAdoption,
  'public/diagrams/healing.svg': () =>
    renderDecisionTree('How an agent decides about a component', readDecisionTree(healingTree)),
  'public/diagrams/runbook-api-down.svg': async () => renderRunbook('how-to/runbook-api-down.md'),
  'public/diagrams/runbook-etcd-quorum-lost.svg': async () =>
    renderRunbook('how-to/runbook-etcd-quorum-lost.md'),
  'public/diagrams/runbook-node-lost.svg': async () => renderRunbook('how-to/runbook-node-lost.md'),
}

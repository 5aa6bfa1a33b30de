import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Host } from '../../lab/hosts/host.ts'
import type { ComponentPlan, PlannedFile } from '../../src/contract/component-plan.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { secretFiles } from '../../src/identity/secret-files.ts'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'

/**
 * Puts a plan on a host of the lab, plainly and once, so that the real programs can be asked what they think of it. No
 * agent is needed for that: hyperkube's own two services are left out.
 */
export async function layOut(host: Host, plan: NodePlan, identity: Identity): Promise<void> {
  const work = await mkdtemp(join(host.directory, 'plan-'))
  try {
    const tree = join(work, 'tree')
    await mkdir(tree)
    const owners = await writeTree(tree, plan, identity)
    await run(['tar', '-C', tree, '-cf', join(work, 'files.tar'), '.'])
    await host.script(accounts(plan))
    await host.exec(['tar', '-x', '--no-overwrite-dir', '-C', '/'], {
      input: await readFile(join(work, 'files.tar')),
    })
    await host.script([...owners, ...settings(plan), ...fetches(plan), 'systemctl daemon-reload'].join('\n'))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Fills in what a host fills in by itself, as soon as there is something to do it from. */
export async function deriveFiles(host: Host, plan: NodePlan): Promise<void> {
  for (const { path, from, template } of engine(plan).flatMap(({ derivedFiles }) => derivedFiles)) {
    await until(
      `${from} on ${host.name}`,
      async () => (await host.exec(['test', '-s', from], { allowFailure: true })).code === 0,
      {
        within: 60_000,
      },
    )
    const { stdout } = await host.exec(['cat', from])
    const values = new Map(
      stdout.split('\n').map((line) => [line.split('=')[0] ?? '', line.split('=')[1] ?? '']),
    )
    const text = template.replaceAll(/\$\{(\w+)(\|network)?\}/g, (_, name: string, network?: string) => {
      const value = values.get(name) ?? ''
      return network === undefined ? value : value.replace(/\d+\/24$/, '0/24')
    })
    await host.exec(['tee', path], { input: text })
  }
}

/** The services of the engine on a host, as systemd knows them. */
export function engineServices(plan: NodePlan): string[] {
  return engine(plan).flatMap(({ service }) => (service === undefined ? [] : [service.name]))
}

/** Its files are laid out, too: all authorities are among them. */
function agentOf({ components }: NodePlan): ComponentPlan[] {
  return components
    .filter(({ name }) => name === 'hyperkube-agent')
    .map((agent) => ({ ...agent, service: undefined }))
}

const ours = new Set(['hyperkube-agent', 'apiserver-proxy', 'hyperkube-controller-manager'])

/** All but what is ours: this lays out what would run without us. */
export function engine({ components }: NodePlan): ComponentPlan[] {
  return components.filter(({ name }) => !ours.has(name))
}

/** Answers with the commands that give everything its owner and mode. */
async function writeTree(tree: string, plan: NodePlan, identity: Identity): Promise<string[]> {
  const secrets = secretFiles(identity, [])
  const owners: string[] = []
  const put = async (path: string, text: string, owner: string, mode: string): Promise<void> => {
    await mkdir(dirname(join(tree, path)), { recursive: true })
    await writeFile(join(tree, path), text)
    owners.push(`chown ${owner}: ${path}; chmod ${mode} ${path}`)
  }
  for (const component of [...engine(plan), ...agentOf(plan)]) {
    for (const { path, owner, mode } of component.directories) {
      await mkdir(join(tree, path), { recursive: true })
      owners.push(`chown ${owner}: ${path}; chmod ${mode} ${path}`)
    }
    for (const file of component.files) {
      await put(file.path, contentOf(file, secrets), file.owner, file.mode)
    }
    for (const {
      certificateFile,
      keyFile,
      owner,
      authority,
      subject,
      names,
      usages,
      lifetime,
    } of component.certificates) {
      const { request, privateKey } = await makeRequest(keyFile, subject, names)
      const signer =
        authority === 'front-proxy' ? identity.authorities.frontProxy : identity.authorities[authority]
      const certificate = await signRequest(signer, request, { subject, names, usages, lifetime }, new Date())
      await put(certificateFile, certificate, owner, '0644')
      await put(keyFile, privateKey.revealText(), owner, '0600')
    }
    if (component.service?.supervisor === 'systemd') {
      const { name, unit } = component.service
      await put(`/etc/systemd/system/${name}`, unit, 'root', '0644')
    }
  }
  return owners
}

function contentOf({ content }: PlannedFile, secrets: ReturnType<typeof secretFiles>): string {
  return content.kind === 'text' ? content.text : (secrets.get(content.secret)?.revealText() ?? '')
}

function accounts(plan: NodePlan): string {
  return engine(plan)
    .flatMap(({ users }) => users)
    .map(
      (user) =>
        `id ${user} >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin ${user}`,
    )
    .join('\n')
}

function settings(plan: NodePlan): string[] {
  return engine(plan).flatMap(({ sysctls }) =>
    Object.entries(sysctls).map(([name, value]) => `sysctl -qw ${name}=${value}`),
  )
}

/** Fetched as the plan says, and taken only when the digest is right. */
function fetches(plan: NodePlan): string[] {
  const downloads = engine(plan)
    .flatMap(({ artifacts }) => artifacts)
    .flatMap((artifact) => (artifact.from === 'url' ? [artifact] : []))
  const jobs = downloads.map(({ url, sha256, directory, unpack, name }) => {
    const file = `/var/tmp/${name}`
    const place =
      unpack.kind === 'program'
        ? `install -m 755 ${file} ${directory}/${unpack.as}`
        : `tar -xzf ${file} --strip-components=${unpack.strip} -C ${directory}`
    const steps = [
      `mkdir -p ${directory}`,
      `curl -fsS --retry 3 ${url} -o ${file}`,
      `echo "${sha256}  ${file}" | sha256sum --check --quiet`,
      place,
      `rm ${file}`,
    ]
    return `(${steps.join(' && ')}) & jobs="$jobs $!"`
  })
  return ['jobs=', ...jobs, 'for job in $jobs; do wait "$job"; done']
}

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Host } from '../../lab/hosts/host.ts'
import type { ComponentPlan, PlannedFile } from '../../src/contract/component-plan.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { secretFiles } from '../../src/identity/secret-files.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'

/**
 * Installs a plan on a lab host once, without an agent, to test the plan with the real programs. hyperkube's
 * own services are left out.
 */
export async function installPlan(host: Host, plan: NodePlan, identity: Identity): Promise<void> {
  const work = await mkdtemp(join(host.directory, 'plan-'))
  try {
    const tree = join(work, 'tree')
    await mkdir(tree)
    const owners = await writeTree(tree, plan, identity)
    await runProgram(['tar', '-C', tree, '-cf', join(work, 'files.tar'), '.'])
    await host.script(buildUserCommands(plan))
    await host.exec(['tar', '-x', '--no-overwrite-dir', '-C', '/'], {
      input: await readFile(join(work, 'files.tar')),
    })
    await host.script(
      [
        ...owners,
        ...buildSysctlCommands(plan),
        ...buildDownloadCommands(plan),
        'systemctl daemon-reload',
      ].join('\n'),
    )
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Renders each derived file from its template as soon as the file with the values exists. */
export async function renderDerivedFiles(host: Host, plan: NodePlan): Promise<void> {
  for (const { path, from, template } of selectUpstreamComponents(plan).flatMap(
    ({ derivedFiles }) => derivedFiles,
  )) {
    await pollUntil(
      `${from} on ${host.name}`,
      async () => (await host.exec(['test', '-s', from], { allowFailure: true })).code === 0,
      {
        timeoutMs: 60_000,
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

/** Lists the systemd services of upstream components. */
export function listUpstreamServices(plan: NodePlan): string[] {
  return selectUpstreamComponents(plan).flatMap(({ service }) =>
    service === undefined ? [] : [service.name],
  )
}

/** Selects the agent component for its files, which include all CAs. The agent's service is left out. */
function selectAgentFiles({ components }: NodePlan): ComponentPlan[] {
  return components
    .filter(({ name }) => name === 'hyperkube-agent')
    .map((agent) => ({ ...agent, service: undefined }))
}

const ownComponents = new Set(['hyperkube-agent', 'apiserver-proxy', 'hyperkube-controller-manager'])

/** Selects the components of a plan that are not hyperkube's own. */
export function selectUpstreamComponents({ components }: NodePlan): ComponentPlan[] {
  return components.filter(({ name }) => !ownComponents.has(name))
}

/** Writes all files below `tree` and returns the commands that set owner and mode. */
async function writeTree(tree: string, plan: NodePlan, identity: Identity): Promise<string[]> {
  const secrets = secretFiles(identity)
  const owners: string[] = []
  const writeOwnedFile = async (path: string, text: string, owner: string, mode: string): Promise<void> => {
    await mkdir(dirname(join(tree, path)), { recursive: true })
    await writeFile(join(tree, path), text)
    owners.push(`chown ${owner}: ${path}; chmod ${mode} ${path}`)
  }
  for (const component of [...selectUpstreamComponents(plan), ...selectAgentFiles(plan)]) {
    for (const { path, owner, mode } of component.directories) {
      await mkdir(join(tree, path), { recursive: true })
      owners.push(`chown ${owner}: ${path}; chmod ${mode} ${path}`)
    }
    for (const file of component.files) {
      await writeOwnedFile(file.path, readContent(file, secrets), file.owner, file.mode)
    }
    for (const {
      certificateFile,
      keyFile,
      owner,
      ca,
      subject,
      names,
      usages,
      lifetime,
    } of component.certificates) {
      const { request, privateKey } = await makeRequest(keyFile, subject, names)
      const signer = ca === 'front-proxy' ? identity.cas.frontProxy : identity.cas[ca]
      const certificate = await signRequest(signer, request, { subject, names, usages, lifetime }, new Date())
      await writeOwnedFile(certificateFile, certificate, owner, '0644')
      await writeOwnedFile(keyFile, privateKey.revealText(), owner, '0600')
    }
    if (component.service?.supervisor === 'systemd') {
      const { name, unit } = component.service
      await writeOwnedFile(`/etc/systemd/system/${name}`, unit, 'root', '0600')
    }
  }
  return owners
}

function readContent({ content }: PlannedFile, secrets: ReturnType<typeof secretFiles>): string {
  return content.kind === 'text' ? content.text : (secrets.get(content.secret)?.revealText() ?? '')
}

function buildUserCommands(plan: NodePlan): string {
  return selectUpstreamComponents(plan)
    .flatMap(({ users }) => users)
    .map(
      (user) =>
        `id ${user} >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin ${user}`,
    )
    .join('\n')
}

function buildSysctlCommands(plan: NodePlan): string[] {
  return selectUpstreamComponents(plan).flatMap(({ sysctls }) =>
    Object.entries(sysctls).map(([name, value]) => `sysctl -qw ${name}=${value}`),
  )
}

/** Builds commands that download artifacts and verify their digests. */
function buildDownloadCommands(plan: NodePlan): string[] {
  const downloads = selectUpstreamComponents(plan)
    .flatMap(({ artifacts }) => artifacts)
    .flatMap((artifact) => (artifact.from === 'url' ? [artifact] : []))
  const jobs = downloads.map(({ url, sha256, directory, unpack, name }) => {
    const file = `/var/tmp/${name}`
    const installCommand =
      unpack.kind === 'program'
        ? `install -m 755 ${file} ${directory}/${unpack.as}`
        : `tar -xzf ${file} --strip-components=${unpack.strip} -C ${directory}`
    const steps = [
      `mkdir -p ${directory}`,
      `curl -fsS --retry 3 ${url} -o ${file}`,
      `echo "${sha256}  ${file}" | sha256sum --check --quiet`,
      installCommand,
      `rm ${file}`,
    ]
    return `(${steps.join(' && ')}) & jobs="$jobs $!"`
  })
  return ['jobs=', ...jobs, 'for job in $jobs; do wait "$job"; done']
}

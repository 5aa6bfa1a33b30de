import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, win32 } from 'node:path'
import { parse } from 'yaml'
import type { GoProgram } from '../../lab/wine/go-programs.ts'
import type { Wine } from '../../lab/wine/wine.ts'
import { renderDerived } from '../../src/agent/apply/render-derived.ts'
import type { ComponentPlan } from '../../src/contract/component-plan.ts'
import { type NodePlan, nodePlanFormat } from '../../src/contract/node-plan.ts'
import type { scm } from '../../src/contract/service.ts'
import { createTestCa } from '../../src/kit/testing/test-ca.ts'
import type { z } from 'zod'

/** A Windows component that runs as a service. */
export type ServedComponent = ComponentPlan & { readonly service: z.infer<typeof scm> }

export async function readGoldenPlan(): Promise<NodePlan> {
  const file = join(import.meta.dirname, '../../src/plan/testdata/windows/win1.yaml')
  return nodePlanFormat.newest.schema.parse(parse(await readFile(file, 'utf8')))
}

export async function readGoldenComponent(name: string): Promise<ServedComponent> {
  const component = (await readGoldenPlan()).components.find((one) => one.name === name)
  if (component?.service?.supervisor !== 'scm') throw new Error(`the plan has no service ${name}`)
  return { ...component, service: component.service }
}

/** Content of the source file for derived files. On a real host flannel and the agent provide it. */
const derivedSource = 'SOURCE_VIP=10.244.3.2\nFLANNEL_SUBNET=10.244.3.1/24\n'

/**
 * Writes the directories, files, certificates and programs of a component according to its plan, without
 * access control lists.
 */
export async function installComponent(
  { toLocalPath }: Pick<Wine, 'toLocalPath'>,
  component: ServedComponent,
  programs: readonly GoProgram[],
): Promise<void> {
  const { directories, files, derivedFiles, certificates, service } = component
  const ca = await createTestCa()
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(toLocalPath(win32.dirname(path)), { recursive: true })
    await writeFile(toLocalPath(path), text)
  }
  for (const { path } of [...directories, { path: String.raw`C:\hyperkube\logs` }])
    await mkdir(toLocalPath(path), { recursive: true })
  for (const { path, content } of files) {
    // The golden plan has a placeholder instead of a CA.
    if (content.kind === 'text') await write(path, path.endsWith('ca.crt') ? ca.certificate : content.text)
  }
  for (const { path, template } of derivedFiles)
    await write(path, renderDerived(template, derivedSource) ?? '')
  for (const { certificateFile, keyFile, usages } of certificates) {
    const { certificate, privateKey } = usages.includes('server') ? ca.server : ca.client
    await write(certificateFile, certificate)
    await write(keyFile, privateKey)
  }
  for (const { program } of [service, ...(service.runner === undefined ? [] : [service.runner])]) {
    const from = programs.find(({ path }) => win32.basename(path) === win32.basename(program))
    if (from === undefined) throw new Error(`${program} was not built`)
    await mkdir(toLocalPath(win32.dirname(program)), { recursive: true })
    await copyFile(toLocalPath(from.path), toLocalPath(program))
  }
}

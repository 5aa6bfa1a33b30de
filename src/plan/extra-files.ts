import { buildComponentPlan, type ComponentPlanner } from './component.ts'
import { planTextFile } from './files.ts'
import type { PlanContext } from './context.ts'

/** Plans the files that cluster.yml lists for the host. */
export function planExtraFiles(owner: string): ComponentPlanner<PlanContext> {
  return ({ host, attachments }) => {
    if (host.files.length === 0) return undefined
    return buildComponentPlan({
      name: 'extra-files',
      stage: 'prepare',
      files: host.files.map(({ path, mode, content, source }) =>
        planTextFile(path, content ?? attachments.get(source ?? '') ?? '', { owner, mode, restart: false }),
      ),
    })
  }
}

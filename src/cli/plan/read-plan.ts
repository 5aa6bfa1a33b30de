import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type PlanDocument, planFormat } from '../../lifecycle/proposal/plan-approval.ts'
import type { CommandContext } from '../command/command.ts'

/** Reads a file written by `plan --out`. */
export async function readPlan(
  { readFile }: Pick<CommandContext, 'readFile'>,
  file: string,
): Promise<PlanDocument> {
  try {
    return readVersioned(planFormat, JSON.parse(await readFile(file)))
  } catch (cause) {
    throw new HyperkubeError('PLAN_NOT_READ', `${file} is not a plan file`, {
      hint: `to write one: hyperkube plan --out ${file}`,
      cause,
    })
  }
}

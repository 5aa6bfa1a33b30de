import { z } from 'zod'
import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Context } from '../command.ts'

const document = z.looseObject({ kind: z.literal('Plan'), plans: z.array(z.unknown()) })

/** The plans that `plan -o json` printed once: what is taken to be there now. By the name of the host. */
export async function readFormerPlan(
  { readFile }: Pick<Context, 'readFile'>,
  file: string,
): Promise<ReadonlyMap<string, NodePlan>> {
  try {
    const { plans } = document.parse(JSON.parse(await readFile(file)))
    return new Map(
      plans.map((value) => {
        const plan = readVersioned(nodePlanFormat, value)
        return [plan.host, plan]
      }),
    )
  } catch (cause) {
    throw new HyperkubeError('PLAN_NOT_READ', `${file} does not hold a plan`, {
      hint: 'hyperkube plan -o json prints one',
      cause,
    })
  }
}

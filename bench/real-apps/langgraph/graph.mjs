import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { count, many, parse, reduce, retrieve, split, trim } from './nodes.mjs';

const INTENTS = ['refund', 'order', 'complaint', 'question'];

function mergeFacts(left, right) {
  const merged = [...left];
  for (const fact of right) {
    if (!merged.some((known) => known.id === fact.id && known.text.trim() === fact.text.trim()))
      merged.push(fact);
  }
  return merged;
}

function routeByIntent({ step, size }) {
  if (step !== 'route') return step;
  const text = 'I have a question about an order and its refund. '.repeat(size / 50);
  const counts = INTENTS.map((intent) => text.split(new RegExp(`\\b${intent}s?\\b`, 'i')).length);
  return counts[0] > 0 ? 'finish' : 'parse';
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  step: Annotation(),
  size: Annotation(),
  facts: Annotation({ reducer: mergeFacts, default: () => [] }),
});

const steps = { split, retrieve, count, parse, trim, many, reduce };
const builder = new StateGraph(State).addNode('finish', async () => ({ facts: [] }));
for (const [name, run] of Object.entries(steps)) builder.addNode(name, run).addEdge(name, 'finish');
builder
  .addConditionalEdges(START, routeByIntent, [...Object.keys(steps), 'finish'])
  .addEdge('finish', END);
export const graph = builder.compile();

export default function Home() {
  return <p>Hello</p>;
}

// A link in a field, and a button that copies it: also without https, where browsers have no clipboard for pages.

export default ({ data, parentElement }) => {
  const field = parentElement.querySelector("input");
  const button = parentElement.querySelector("button");
  const status = parentElement.querySelector("[role=status]");
  field.value = data.url;
  field.setAttribute("aria-label", data.label);
  button.textContent = data.copy;
  status.textContent = "";
  field.onfocus = () => field.select();
  button.onclick = async () => {
    let copied = false;
    try {
      await navigator.clipboard.writeText(data.url);
      copied = true;
    } catch {
      field.select();
      copied = document.execCommand("copy");
    }
    status.textContent = copied ? data.copied : data.failed;
  };
};
